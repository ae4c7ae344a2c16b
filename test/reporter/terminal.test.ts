import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildReport } from '../../src/core/report/build.ts'
import { type CampaignReport, type Estimate, OUTCOMES, REFUSALS } from '../../src/core/report/report.ts'
import { renderMarkdown } from '../../src/reporter/markdown.ts'
import { textWidth } from '../../src/reporter/terminal/width.ts'
import { renderTerminal } from '../../src/reporter/terminal.ts'
import { inputOf, planOf, recordsOf } from '../core/report/records.ts'
import {
  AT_LEAST,
  candidate,
  cluster,
  estimate,
  HOLD,
  NO_GATE,
  REGRESS,
  REPORTS,
  report,
  statusCounts,
  variant,
} from './reports.ts'

const PLAIN = { width: 80, color: false, unicode: true, reportPath: '.evals/run-1/reports/triage.md' }
const ESCAPE = '\u001b'
const SGR = new RegExp(`${ESCAPE}\\[\\d+m`, 'g')

const lines = (text: string): string[] => text.split('\n')

describe('fixed reports', () => {
  test.each(Object.entries(REPORTS))('%s', async (name, fixed) => {
    const file = name.replaceAll(' ', '-')
    await expect(renderTerminal(fixed, PLAIN)).toMatchFileSnapshot(`__golden__/${file}.txt`)
  })

  test('without Unicode', async () => {
    const text = renderTerminal(REGRESS, { ...PLAIN, unicode: false })
    expect(text).toMatch(/^[\x20-\x7e\n]*$/)
    await expect(text).toMatchFileSnapshot('__golden__/regress.ascii.txt')
  })

  test.each(Object.entries(REPORTS))('%s: the verdict is on line 1, the path on the last', (_, fixed) => {
    const all = lines(renderTerminal(fixed, PLAIN))
    expect(all[0]?.startsWith(`${fixed.verdict.word}  `)).toBe(true)
    expect(all.at(-1)).toBe('report: .evals/run-1/reports/triage.md')
  })

  test('what is not fresh is dated on line 1', () => {
    expect(lines(renderTerminal(REGRESS, PLAIN))[0]).toContain('(replayed, recorded 2026-11-02 to 2026-11-05)')
    expect(lines(renderTerminal(HOLD, PLAIN))[0]).not.toContain('recorded')
  })

  test('colour repeats words and takes no room', () => {
    for (const fixed of Object.values(REPORTS)) {
      const colored = renderTerminal(fixed, { ...PLAIN, color: true })
      expect(colored).toContain(ESCAPE)
      expect(colored.replace(SGR, '')).toBe(renderTerminal(fixed, PLAIN))
      expect(renderTerminal(fixed, PLAIN)).not.toContain(ESCAPE)
    }
  })

  test('verbose shows what the page leaves out', () => {
    const short = renderTerminal(REGRESS, PLAIN)
    const whole = renderTerminal(REGRESS, { ...PLAIN, verbose: true })
    const power = 'mini-model: a drop of 4.2 pp'
    expect(short).not.toContain(power)
    expect(whole).toContain(power)
    expect(lines(whole).length).toBeGreaterThan(40)
  })
})

const built = (drop: number, scenarios = 24) => {
  const plan = planOf({ scenarios, seeds: 3, variants: ['current', 'concise', 'mini'] })
  const score = (variant: string, scenario: number, seed: number): number =>
    variant === 'concise' && scenario < drop ? 0 : scenario % 7 === 0 && seed === 0 ? 0 : 1
  return buildReport(
    inputOf(
      plan,
      recordsOf(plan, ({ variant }, { scenario, seed }) => score(variant, scenario, seed)),
    ),
  )
}

describe('reports as they are built', () => {
  test.each([
    ['a regression', built(12), 'FAIL  concise is worse than current on label'],
    ['no difference', built(0), 'PASS  concise scored the same as current'],
    ['nothing shown', built(2), 'NO VERDICT  no loss shown for concise'],
    ['too few scenarios', built(1, 4), 'NO VERDICT  too few scenarios'],
  ])('%s', (_, made, start) => {
    const text = renderTerminal(made, { ...PLAIN, unicode: false })
    expect(text.replace(/\n {2}/g, ' ').startsWith(start)).toBe(true)
    expect(text).toMatch(/^[\x20-\x7e\n]*$/)
    expect(text.match(/proof of no loss/g)?.length ?? 0).toBeLessThanOrEqual(2)
    expect(lines(text).length).toBeLessThanOrEqual(40)
    expect(renderMarkdown(made)).toContain('#### Method')
  })
})

describe('sentences that a reader acts on', () => {
  const show = (made: CampaignReport): string => renderTerminal(made, { ...PLAIN, unicode: false })

  test('a candidate within its margin is good enough, and nothing takes it back', () => {
    const plan = planOf({ scenarios: 60, seeds: 3, gate: { margin: 0.1 } })
    const records = recordsOf(plan, (cell, { scenario, seed }) =>
      (scenario * 7 + seed * 3 + (cell.variant === 'concise' ? 1 : 0)) % 5 < 3 ? 1 : 0,
    )
    const text = show(buildReport(inputOf(plan, records)))
    expect(text).toMatch(/^PASS {2}concise is good enough: it loses less than the margin of 10 pp/)
    expect(text).not.toContain('proof of no loss')
  })

  test('what nobody measured is one note, not a column of unknowns', () => {
    const plan = planOf({ scenarios: 24 })
    const records = recordsOf(plan, (cell) => ({
      score: cell.variant === 'concise' ? 0 : 1,
      wallMs: null,
      providerMs: null,
      calls: { subject: 0, judge: 0, setup: 0, retried: 0, mocked: 0 },
      cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null },
      tokens: { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: false },
    }))
    const text = show(buildReport(inputOf(plan, records)))
    expect(text).toContain('not measured: cost (price not captured); latency, tokens (no data)')
    expect(text.match(/unknown \(/g)).toHaveLength(2)
    expect(text).not.toContain('$/cell')
  })

  test('the note on a star stands where a star stands, and only there', () => {
    const starred = built(2, 4)
    expect(show(starred)).toMatch(/\*/)
    expect(show(starred)).toContain('* describes these scenarios')
    const unknown = estimate(null, null, null, { refused: 'no_data', descriptive: true })
    const none = show(report({ ...NO_GATE, variants: [variant('current', { mean: unknown })] }))
    expect(none).not.toContain('* describes')
  })

  test('an interrupted run says so, with the cells that have a result, and draws no interval for an empty arm', () => {
    const plan = planOf({ scenarios: 24, seeds: 3 })
    const records = recordsOf(plan, (cell, { scenario }) =>
      cell.variant === 'concise' || scenario > 3 ? { status: 'not_run', reason: 'interrupted' } : 1,
    )
    const problems = [{ code: 'interrupted', text: 'the run was interrupted: 132 of 144 cells have no result' }]
    const text = show(buildReport(inputOf(plan, records, problems)))
    expect(text).toMatch(/^FAIL {2}the run was interrupted: 12 of 144 cells have a result; run it again\n/)
    expect(text.match(/interrupted/g)).toHaveLength(2)
    expect(text).not.toMatch(/failed cells? would|0\.0 \[|pp vs/)
  })

  test('times beyond the limit are larger than it', () => {
    const plan = planOf({ scenarios: 24 })
    const records = recordsOf(plan, (cell) =>
      cell.variant === 'concise' ? { status: 'task_fail', failure: { class: 'timeout' }, wallMs: 600_000 } : 1,
    )
    const text = show(buildReport(inputOf(plan, records)))
    expect(text).toContain('>600 s/>600 s')
  })

  test('guardrails: the numbers, the limit, and what is shown', () => {
    const text = show(
      report({
        candidates: [
          candidate('concise', {
            guardrails: [
              {
                name: 'cost',
                endpoint: 'cost',
                clock: null,
                ratio: 1.1,
                diff: null,
                require: 'shown',
                comparator: 0.041,
                candidate: 0.049,
                estimate: estimate(1.2, 1.12, 1.28, { method: 'log-ratio-t' }),
                outcome: 'violated',
              },
              {
                name: 'passRate',
                endpoint: 'passRate',
                clock: null,
                ratio: null,
                diff: 0.02,
                require: 'shown',
                comparator: 0.9,
                candidate: 0.89,
                estimate: estimate(-0.01, -0.05, 0.03, { method: 'bounds' }),
                outcome: 'unproven',
              },
            ],
          }),
        ],
      }),
    )
    expect(text).toMatch(/cost +\$0\.0410 +\$0\.0490 +1\.1x {2}VIOLATED 1\.2x \[1\.12x, 1\.28x\]/)
    expect(text).toMatch(/passRate +90\.0 % +89\.0 % +-2\.0 pp {2}unproven -1\.0 pp \[-5\.0, \+3\.0\]/)
  })

  test('splits, looks and preregistration have a line each', () => {
    const text = show(
      report({
        prereg: {
          hash: 'sha256-jcs:4f1c09ab77',
          claim: 'concise is no worse',
          source: 'triage.prereg.json',
          commit: 'c0ffee',
          order: 'before',
          verified: true,
          deviations: [],
        },
        looks: { used: 1, allowed: 2, exhausted: false, spent: null },
        variants: [
          variant('concise', {
            splits: [
              { split: 'search', scenarios: 20, mean: estimate(0.9, 0.8, 1) },
              { split: 'holdout', scenarios: 24, mean: estimate(0.7, 0.6, 0.8) },
            ],
            overfitGap: estimate(0.2, 0.1, 0.3),
          }),
        ],
      }),
    )
    expect(text).toContain('PREREG  4f1c09ab verified, 0 deviations, look 1 of 2')
    expect(text).toContain('SPLITS  concise search 0.900, holdout 0.700, gap +20.0 pp')
  })
})

describe('numbers', () => {
  test('points of percent, signed, on a scale from 0 to 1', () => {
    expect(renderTerminal(REGRESS, PLAIN)).toContain('-6.4 [-10.9, -1.9]')
    expect(renderTerminal(REGRESS, PLAIN)).toContain('pp vs current')
  })

  test('score units on another scale', () => {
    const text = renderTerminal(
      report({
        design: { ...HOLD.design, scale: [1, 5], margin: 0.2 },
        candidates: [candidate('concise', { difference: estimate(-0.523, -1.01, -0.0361) })],
      }),
      PLAIN,
    )
    expect(text).toContain('-0.523 [-1.01, -0.0361]')
    expect(text).not.toContain(' pp')
  })

  test('a cost nobody knows is unknown, with its reason, and never $0', () => {
    const text = renderTerminal(REGRESS, PLAIN)
    expect(text).toMatch(/mini-model.*unknown/)
    expect(text).toContain('unknown (price not captured): cost of mini-model')
    expect(text).not.toContain('$0 ')
    expect(text).toContain('cost in total at least $1.01; 9 cells without a charge')
  })

  test('a number whose interval is refused keeps its reason', () => {
    const equal = estimate(-0.5, null, null, { refused: 'zero_spread' })
    const same = renderTerminal(report({ candidates: [candidate('concise', { difference: equal })] }), PLAIN)
    expect(same).toContain('-50.0 [unknown]')
    expect(same).toContain('interval unknown (all differences equal)')
    const alone = estimate(0.5, null, null, { n: 1, df: null, refused: 'one_scenario' })
    const text = renderTerminal(report({ ...NO_GATE, variants: [variant('current', { mean: alone })] }), PLAIN)
    expect(text).toContain('0.500 [unknown]')
    expect(text).toContain('unknown (one scenario): interval of current')
  })

  test('one variant without a gate has its mean, interval, cost and latency', () => {
    expect(renderTerminal(NO_GATE, PLAIN)).toMatch(
      /current {2}0\.712 \[0\.651, 0\.773\] {2}71\.2 % {2}\$0\.00412 {2}1\.23 s/,
    )
  })

  test('a threshold is drawn beside the mean', () => {
    expect(renderTerminal(AT_LEAST, PLAIN)).toContain('┊ at least 0.900')
  })
})

describe('the command that reruns a scenario', () => {
  const rerun = (scenario: string): string => {
    const worst = [
      {
        scenario,
        comparator: 1,
        candidate: 0,
        delta: -1,
        comparatorSeeds: '1/1',
        candidateSeeds: '0/1',
        flaky: { comparator: false, candidate: false },
      },
    ]
    const text = renderTerminal(report({ candidates: [candidate('concise', { outcome: 'regress', worst })] }), PLAIN)
    return lines(text).find((line) => line.includes('npx vitest')) ?? ''
  }

  test('names the cells of the scenario', () => {
    expect(rerun('refund')).toBe('  rerun one: npx vitest --project evals -t "> refund > seed"')
  })

  test('stays a command whatever the id', () => {
    expect(rerun('$(id)')).toContain('-t "> ..id. > seed"')
    const shell = rerun('a"; rm -rf $(pwd) `id` %PATH% !x\\')
    expect(shell).toContain('-t "> a.. rm -rf ..pwd. .id. .PATH. .x."')
  })

  test('finds the title it was made for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), (id) => {
        const pattern = / -t "(.*)"$/.exec(rerun(id))?.[1]
        expect(pattern).toBeDefined()
        expect(`concise > ${id} > seed 0`).toMatch(new RegExp(pattern ?? '(?!)'))
      }),
    )
  })
})

/** Ids as nobody would write them, and somebody does. */
const id = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '::error::x',
    '##[group]x',
    '  ::set-output',
    '漢'.repeat(200),
    '👩‍👩‍👧‍👦'.repeat(30),
    'a\nb',
    `${ESCAPE}[31mred`,
    '\u202edlrow',
    '',
  ),
)
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -1, max: 1, noNaN: true }),
)
const maybe = fc.option(number, { nil: null })
const estimates: fc.Arbitrary<Estimate> = fc
  .record({ est: maybe, lo: maybe, hi: maybe, descriptive: fc.boolean(), refused: fc.constantFrom(...REFUSALS) })
  .map((part) => estimate(part.est, part.lo, part.hi, { descriptive: part.descriptive, refused: part.refused }))
const outcome = fc.constantFrom(...OUTCOMES)
const count = fc.nat({ max: 1_000_000 })

const variants = fc
  .record({
    id,
    mean: estimates,
    passRate: estimates,
    usd: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null }),
  })
  .map(({ id, mean, passRate, usd }) =>
    variant(id, {
      mean,
      passRate,
      coverage: 0.5,
      cost: {
        totalUsd: usd,
        knownUsd: usd ?? 0,
        uncapturedCells: 1,
        perCellUsd: usd,
        perSuccessUsd: usd,
        provenance: 'estimated',
        refused: 'uncaptured',
      },
    }),
  )
const candidates = fc
  .record({
    id,
    outcome,
    difference: fc.option(estimates, { nil: null }),
    worst: fc.array(id, { maxLength: 12 }),
    mean: estimates,
    threshold: number,
    level: fc.boolean(),
    drop: maybe,
  })
  .map(({ id, outcome, difference, worst, mean, threshold, level, drop }) =>
    candidate(id, {
      outcome,
      difference,
      bounds: { lo: -0.3, hi: 0.2, tippingCells: 4 },
      detectableDrop: { drop },
      atLeast: level ? { threshold, outcome, mean } : null,
      mustPass: { scenarios: 2, broken: worst.slice(0, 3).map((scenario) => ({ scenario, failedSeeds: [0, 1] })) },
      worst: worst.map((scenario) => ({
        scenario,
        comparator: 1,
        candidate: 0,
        delta: -1,
        comparatorSeeds: '3/3',
        candidateSeeds: '0/3',
        flaky: { comparator: false, candidate: false },
      })),
    }),
  )
const reports: fc.Arbitrary<CampaignReport> = fc
  .record({
    id,
    headline: fc.oneof(id, fc.lorem({ maxCount: 80 })),
    scale: fc.constantFrom([0, 1] as const, [0, 1e6] as const, null),
    variants: fc.array(variants, { maxLength: 12 }),
    candidates: fc.array(candidates, { maxLength: 12 }),
    texts: fc.array(fc.oneof(id, fc.lorem({ maxCount: 40 })), { maxLength: 12 }),
    count,
    margin: fc.option(fc.double({ min: 1e-9, max: 1, noNaN: true }), { nil: null }),
  })
  .map(({ id, headline, scale, variants, candidates, texts, count, margin }) =>
    report({
      campaignId: id,
      file: `evals/${id}.eval.ts`,
      verdict: { ...HOLD.verdict, headline, reasons: texts.map((text) => ({ code: 'x', text })) },
      design: { ...HOLD.design, scale, margin, comparator: id, primary: headline },
      coverage: { planned: count, counts: statusCounts({ not_run: count, infra_error: 3 }), reasons: { [id]: count } },
      variants,
      candidates,
      failures: texts.map((text) => ({ class: text, mode: text, ...cluster(count + 1, texts, [text]), variants: [] })),
      integrity: {
        backend: 'mixed',
        issues: texts.map((text) => ({ code: text, severity: 'warn', count, example: text })),
      },
      evidence: {
        live: 1,
        replayed: count + 1,
        mixed: 2,
        carried: 3,
        silent: 0,
        recordedFrom: headline,
        recordedTo: id,
      },
    }),
  )

describe('any report', () => {
  test('stays within the page', () => {
    fc.assert(
      fc.property(reports, fc.integer({ min: 40, max: 120 }), fc.boolean(), (any, width, unicode) => {
        const all = lines(renderTerminal(any, { ...PLAIN, width, unicode, reportPath: `/tmp/${any.campaignId}/x.md` }))
        expect(all.length).toBeLessThanOrEqual(40)
        for (const line of all) expect(textWidth(line), line).toBeLessThanOrEqual(width)
        expect(all[0]?.startsWith(any.verdict.word)).toBe(true)
        expect(all.at(-1)?.startsWith('report: ')).toBe(true)
        // Every section keeps its place on a sheet of the usual width.
        if (width >= 80) for (const part of ['COVERAGE', 'VARIANTS', 'EVIDENCE']) expect(all.join('\n')).toContain(part)
      }),
      { numRuns: 60 },
    )
  })

  test('keeps every section, however much each has to say', () => {
    const long = 'ever so long a sentence about it '.repeat(20)
    const many = <T>(of: (index: number) => T): T[] => Array.from({ length: 20 }, (_, index) => of(index))
    const scenario = (index: number) => ({
      scenario: `scenario-${index}`,
      comparator: 1,
      candidate: 0,
      delta: -1,
      comparatorSeeds: '3/3',
      candidateSeeds: '0/3',
      flaky: { comparator: false, candidate: false },
    })
    const all = lines(
      renderTerminal(
        report({
          verdict: {
            ...HOLD.verdict,
            headline: long,
            reasons: many((index) => ({ code: 'x', text: `${index} ${long}` })),
          },
          coverage: {
            planned: 9,
            counts: statusCounts({ not_run: 9 }),
            reasons: Object.fromEntries(many((index) => [`reason-${index}`, 1])),
          },
          variants: many((index) =>
            variant(`variant-${index}`, {
              coverage: 0.5,
              mean: estimate(null, null, null, { refused: 'missing_cells' }),
            }),
          ),
          candidates: many((index) =>
            candidate(`variant-${index}`, {
              atLeast: { threshold: 0.9, outcome: 'hold', mean: estimate(0.5, 0.4, 0.6) },
              mustPass: { scenarios: 20, broken: many((at) => ({ scenario: `must-${at}`, failedSeeds: [0] })) },
              worst: many(scenario),
            }),
          ),
          failures: many((index) => ({
            class: 'unknown',
            mode: `mode-${index}`,
            ...cluster(1, [long]),
            variants: [],
          })),
          integrity: {
            backend: 'stub',
            issues: many(() => ({ code: 'stub_backend', severity: 'error', count: 1, example: long })),
          },
        }),
        PLAIN,
      ),
    )
    expect(all).toHaveLength(40)
    for (const part of [
      'PASS  ',
      'pp vs current',
      'mean ',
      'COVERAGE',
      'VARIANTS',
      'WORST CHANGES',
      'FAILURES',
      'INTEGRITY',
      'EVIDENCE',
      'report: ',
    ]) {
      expect(
        all.filter((line) => line.startsWith(part)),
        part,
      ).not.toHaveLength(0)
    }
  })

  test('prints nothing that a terminal or a CI runner acts upon', () => {
    fc.assert(
      fc.property(reports, fc.boolean(), (any, verbose) => {
        const text = renderTerminal(any, { ...PLAIN, verbose })
        expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
        expect(text).not.toMatch(/^\s*::/m)
        expect(text).not.toMatch(/##\w*\[/)
        expect(text).not.toContain('NaN')
        expect(text).not.toContain('undefined')
      }),
      { numRuns: 40 },
    )
  })
})
