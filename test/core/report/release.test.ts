import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import type { Registration } from '../../../src/core/prereg/registration.ts'
import { termsOf } from '../../../src/core/prereg/terms.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { ReportInput } from '../../../src/core/report/report.ts'
import {
  type Coordinates,
  type Given,
  inputOf,
  isCandidate,
  type PlanParts,
  planOf,
  recordsOf,
  reportOf,
  warningCodes,
} from './records.ts'

type At = { readonly scenario: number; readonly seed: number }
const better = (cell: Coordinates, { scenario }: At): Given => (isCandidate(cell) ? 0.9 : 0.5 + (scenario % 3) / 10)
const worse = (cell: Coordinates, { scenario }: At): Given => (isCandidate(cell) ? 0.2 + (scenario % 3) / 10 : 0.9)
const open = (cell: Coordinates, { scenario }: At): Given =>
  0.5 + ((scenario % 2) * 2 - 1) * (isCandidate(cell) ? 0.2 : 0.1)
const same = (): Given => 1
const release = { kind: 'release', margin: 0.02, target: 0.02, onInconclusive: 'fail' } as const

function withInput(parts: PlanParts, of: Parameters<typeof recordsOf>[1], input: Partial<ReportInput>) {
  const plan = planOf(parts)
  return buildReport({ ...inputOf(plan, recordsOf(plan, of)), ...input })
}

describe('exit codes', () => {
  it.each<readonly [string, PlanParts['gate'], Parameters<typeof reportOf>[1], number, 0 | 1 | 2 | 3, string]>([
    ['pr, shown better', {}, better, 24, 0, 'PASS'],
    ['pr, shown worse', {}, worse, 24, 1, 'FAIL'],
    ['pr, nothing shown', {}, open, 24, 0, 'NO VERDICT'],
    ['pr, nothing shown, to fail', { onInconclusive: 'fail' }, open, 24, 3, 'FAIL'],
    ['pr, too few, to fail', { onInconclusive: 'fail' }, open, 4, 3, 'FAIL'],
    ['pr, nothing changed, to fail', { onInconclusive: 'fail' }, same, 24, 0, 'PASS'],
    ['pr, nothing measured', {}, () => ({ status: 'infra_error' }), 24, 2, 'FAIL'],
    ['release, shown better', release, better, 24, 0, 'PASS'],
    ['release, shown worse', release, worse, 24, 1, 'FAIL'],
    ['release, nothing shown', release, open, 24, 3, 'FAIL'],
    ['release, nothing shown, to warn', { ...release, onInconclusive: 'warn' }, open, 24, 0, 'NO VERDICT'],
    ['release, nothing changed, to warn', { ...release, onInconclusive: 'warn' }, same, 24, 3, 'FAIL'],
    ['release, too few', release, better, 4, 3, 'FAIL'],
  ])('%s', (_, gate, of, scenarios, exitCode, word) => {
    const { verdict } = reportOf({ scenarios, gate }, of)
    expect(verdict).toMatchObject({ exitCode, word, red: exitCode !== 0, gate: gate?.kind ?? 'pr' })
  })

  it('missing cells that could decide are red however lenient the gate', () => {
    const lost = (cell: Coordinates, at: At): Given =>
      isCandidate(cell) && at.scenario < 8 ? { status: 'infra_error' } : open(cell, at)
    for (const gate of [{}, { ...release, onInconclusive: 'warn' } as const]) {
      expect(reportOf({ scenarios: 24, gate }, lost).verdict).toMatchObject({ exitCode: 3, rule: '10', red: true })
    }
  })

  it('a release that waits says so, and one that regresses says not to release it', () => {
    expect(reportOf({ scenarios: 24, gate: release }, open).verdict.headline).toMatch(/^not shown fit for release: /)
    expect(reportOf({ scenarios: 24, gate: release }, worse).verdict.headline).toContain('do not release it')
  })

  it('every candidate of a release gate has to ship; `candidates` names those that count', () => {
    const parts = { scenarios: 24, variants: ['current', 'concise', 'open'] }
    const of = (cell: Coordinates, at: At): Given =>
      cell.variant === 'open' ? 0.5 + ((at.scenario % 2) * 2 - 1) / 5 : better(cell, at)
    expect(reportOf({ ...parts, gate: release }, of).verdict).toMatchObject({ exitCode: 3 })
    expect(reportOf({ ...parts, gate: { ...release, candidates: ['concise'] } }, of).verdict).toMatchObject({
      exitCode: 0,
      outcome: 'ship',
    })
  })

  it('without a gate a run that measured too little is 3, an interrupted one says how much it has', () => {
    const short = reportOf({ gate: null }, (_, { scenario }) => (scenario < 3 ? null : 1))
    expect(short.verdict).toMatchObject({ exitCode: 3, gate: 'none', red: true })
    expect(reportOf({ gate: null }, same).verdict).toMatchObject({ exitCode: 0 })
  })
})

describe('atLeast of a release gate', () => {
  const gate = { ...release, margin: null, target: null, comparator: null, atLeast: 0.8, candidates: ['concise'] }
  it.each<readonly [string, (scenario: number) => number, 0 | 1 | 2 | 3]>([
    ['lower bound above', () => 1, 0],
    ['undecided', (s) => (s % 6 === 0 ? 0 : 1), 3],
    ['upper bound below', (s) => s % 2, 1],
  ])('%s', (_, of, exitCode) => {
    expect(reportOf({ scenarios: 60, gate }, (__, { scenario }) => of(scenario)).verdict.exitCode).toBe(exitCode)
  })

  it('beside a comparator both must ship', () => {
    const both = { ...release, atLeast: 0.95 }
    const { verdict } = reportOf({ scenarios: 24, gate: both }, better)
    expect(verdict).toMatchObject({ exitCode: 1, rule: 'at-least' })
  })
})

describe('must-pass scenarios of a release gate', () => {
  const gate = { kind: 'release', onInconclusive: 'fail', comparator: null, candidates: ['concise'] } as const
  const scenarios = [{ id: 'refund', mustPass: true }, { id: 'login' }]
  it.each<readonly [string, Given, 0 | 1 | 3]>([
    ['all pass', 1, 0],
    ['one fails', 0, 1],
    ['one is not measured', { status: 'judge_error' }, 3],
  ])('%s', (_, given, exitCode) => {
    const { verdict } = reportOf({ scenarios, gate, coverage: 0.5 }, ({ scenario }) =>
      scenario === 'refund' ? given : 1,
    )
    expect(verdict.exitCode).toBe(exitCode)
  })
})

describe('assurance: bounded', () => {
  it('a gain that the betting bound covers ships, one that only the t interval shows does not', () => {
    const of =
      (gain: number) =>
      (cell: Coordinates, { scenario }: At): Given =>
        0.4 + (scenario % 4) / 50 + (isCandidate(cell) ? gain + (scenario % 5) / 100 : 0)
    const at = (scenarios: number, gain: number) =>
      reportOf({ scenarios, gate: { ...release, assurance: 'bounded' } }, of(gain)).candidates[0]
    expect(at(100, 0.4)).toMatchObject({ outcome: 'ship', rule: '7', boundedLower: { method: 'betting', hi: null } })
    const small = at(24, 0.05)
    expect(small).toMatchObject({ outcome: 'inconclusive', rule: '10', reasons: [{ code: 'bounded_unproven' }] })
    expect(small?.difference?.lo).toBeGreaterThan(0)
    expect(small?.boundedLower?.lo).toBeLessThan(0)
    expect(reportOf({ scenarios: 24, gate: release }, of(0.05)).candidates[0]).toMatchObject({
      outcome: 'ship',
      boundedLower: null,
    })
  })

  it('a rare large loss that the sample does not hold is covered by the bound alone', () => {
    // 49 of 50 gain a little; the t interval knows nothing of the one in fifty that loses everything.
    const gains = (cell: Coordinates, { scenario }: At): Given =>
      isCandidate(cell) ? 1 : 1 - 0.02 - (scenario % 3) / 1000
    const lenient = reportOf({ scenarios: 50, gate: {} }, gains).candidates[0]
    const strict = reportOf({ scenarios: 50, gate: { assurance: 'bounded' } }, gains).candidates[0]
    expect(lenient?.outcome).toBe('ship')
    expect(lenient?.unseenLoss).toMatchObject({ lost: 0, units: 50, upperRate: 0.0581551 })
    expect(strict?.outcome).toBe('inconclusive')
  })
})

describe('looks', () => {
  it('each of J looks has α/J, so that the interval is wider', () => {
    const one = reportOf({ scenarios: 24 }, open)
    const three = reportOf({ scenarios: 24, gate: { looks: 3 } }, open)
    expect(three.design).toMatchObject({ alpha: 0.025, alphaOfLook: 0.00833333 })
    expect(three.candidates[0]?.difference?.lo).toBeLessThan(one.candidates[0]?.difference?.lo ?? -1)
    expect(three.looks).toEqual({ used: 1, allowed: 3, exhausted: false, spent: null })
    expect(warningCodes(three)).toContain('alpha_spent')
  })

  it('55: a look after the last ships nothing, and still shows harm', () => {
    const worn = { looks: { used: 2, allowed: 1 } }
    const good = withInput({ scenarios: 24 }, better, worn)
    expect(good.candidates[0]).toMatchObject({ outcome: 'hold', rule: '6' })
    expect(good).toMatchObject({ confirmatory: false, looks: { exhausted: true } })
    expect(good.verdict.headline).toContain('holdout worn: look 2 of 1')
    expect(withInput({ scenarios: 24 }, worse, worn).candidates[0]).toMatchObject({ outcome: 'regress' })
  })

  it('refuses looks that cannot be counted', () => {
    expect(() => withInput({}, same, { looks: { used: 0 } })).toThrow('looks.used must be a whole number')
  })
})

describe('preregistration', () => {
  const parts = { scenarios: 24, gate: release }
  const registered = (plan = planOf(parts), commit: Partial<Registration['commit']> = {}): Registration => ({
    source: 'evals/triage.prereg.json',
    claim: 'concise is better',
    terms: { ...termsOf(plan) },
    commit: { state: 'committed', sha: 'c0ffee', at: '2026-01-01T00:00:00.000Z', ...commit },
  })

  it('a verified one without deviations is confirmatory', () => {
    const report = withInput(parts, better, { prereg: registered() })
    expect(report).toMatchObject({
      confirmatory: true,
      prereg: { verified: true, order: 'before', commit: 'c0ffee', hash: digestOf(termsOf(planOf(parts))) },
      verdict: { exitCode: 0 },
    })
    expect(withInput(parts, better, {})).toMatchObject({ confirmatory: false, prereg: null, verdict: { exitCode: 0 } })
  })

  it.each<[string, Registration, string]>([
    [
      'another margin',
      registered(planOf({ ...parts, gate: { ...release, margin: 0.03 } })),
      'deviates from its preregistration: margin',
    ],
    [
      'a scenario more',
      registered(planOf({ ...parts, scenarios: 25 })),
      'deviates from its preregistration: scenarios.s25',
    ],
    ['a term that was not registered', { ...registered(), terms: {} }, 'preregistration: alpha, assurance, atLeast'],
    [
      'a commit after the first measurement',
      registered(undefined, { at: '2030-01-01T00:00:00.000Z' }),
      'it was committed after the first measurement',
    ],
    [
      'a commit in the second of the first measurement: git keeps no more of its time',
      registered(undefined, { at: '2026-01-02T03:04:05.000Z' }),
      'it was committed after the first measurement',
    ],
    [
      'a file that was changed since',
      registered(undefined, { state: 'changed', sha: null, at: null }),
      'its file is not committed as it is',
    ],
    [
      'no repository',
      registered(undefined, { state: 'no-repository', sha: null, at: null }),
      'nobody knows what came first',
    ],
  ])('holds a release for %s', (_, prereg, text) => {
    const report = withInput(parts, better, { prereg })
    expect(report.candidates[0]).toMatchObject({ outcome: 'hold', rule: '6' })
    expect(report).toMatchObject({ confirmatory: false, prereg: { verified: false }, verdict: { exitCode: 3 } })
    expect(report.verdict.headline).toContain(text)
    expect(withInput({ scenarios: 24 }, better, { prereg }).candidates[0]?.outcome).toBe('ship')
  })

  it('names what was planned and what ran', () => {
    const prereg = registered(planOf({ ...parts, gate: { ...release, margin: 0.03, target: 0.03 } }))
    expect(withInput(parts, better, { prereg }).prereg?.deviations).toContainEqual({
      field: 'margin',
      planned: 0.03,
      actual: release.margin,
    })
  })
})

describe('splits', () => {
  const scenarios = Array.from({ length: 48 }, (_, i) => ({
    id: `s${String(i).padStart(2, '0')}`,
    split: i < 24 ? ('search' as const) : ('holdout' as const),
    splitDeclared: true,
  }))

  it('the holdout alone decides: a gain on search is no gain', () => {
    const of = (cell: Coordinates, { scenario }: At): Given =>
      scenario < 24 ? (isCandidate(cell) ? 1 : 0.2 + (scenario % 3) / 10) : open(cell, { scenario, seed: 0 })
    const report = reportOf({ scenarios, gate: release }, of)
    expect(report.design).toMatchObject({ scenarios: 48, deciding: 24, splits: { holdout: 24, search: 24 } })
    expect(report.candidates[0]?.difference?.n).toBe(24)
    expect(report.candidates[0]?.outcome).not.toBe('ship')
    const concise = report.variants.find(({ id }) => id === 'concise')
    expect(concise?.splits).toMatchObject([
      { split: 'search', scenarios: 24, mean: { est: 1 } },
      { split: 'holdout', scenarios: 24, mean: { est: 0.5 } },
    ])
    expect(concise?.planned).toBe(48)
  })

  it('the overfit gap is the mean on search less that on the holdout, and a shown one warns', () => {
    const of = (cell: Coordinates, { scenario }: At): Given =>
      isCandidate(cell) && scenario < 24 ? 0.8 + (scenario % 3) / 10 : 0.5 + (scenario % 3) / 10
    const report = reportOf({ scenarios }, of)
    const [current, concise] = report.variants
    expect(concise?.overfitGap?.est).toBeCloseTo(0.3, 6)
    expect(concise?.overfitGap?.lo).toBeGreaterThan(0.2)
    expect(current?.overfitGap?.est).toBeCloseTo(0, 6)
    expect(report.warnings.filter(({ code }) => code === 'overfit').map(({ text }) => text)).toEqual([
      expect.stringContaining('concise does better'),
    ])
  })

  it('44: contents that stand in the holdout and in what was tuned on make the campaign invalid', () => {
    const plan = planOf({ scenarios })
    const [tuned] = plan.scenarios
    if (tuned === undefined) throw new Error('no scenario')
    const leaking = planOf({
      scenarios: scenarios.map((one, i) => (i === 30 ? { ...one, digest: tuned.digest } : one)),
    })
    const report = buildReport(inputOf(leaking, recordsOf(leaking, same)))
    expect(report.verdict).toMatchObject({ outcome: 'invalid', exitCode: 2 })
    expect(report.verdict.reasons[0]).toMatchObject({ code: 'split_leak', text: expect.stringContaining('s30 = s00') })
  })

  it('a must-pass scenario counts in any split', () => {
    const marked = scenarios.map((one, i) => ({ ...one, mustPass: i === 0 }))
    const report = reportOf({ scenarios: marked }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? 0 : 1,
    )
    expect(report.verdict).toMatchObject({ outcome: 'regress', rule: '2' })
  })
})

describe('an interrupted run', () => {
  const problems = [{ code: 'interrupted', text: 'the run was interrupted: 20 of 24 cells have no result' }]

  it('says that it was interrupted and how many cells have a result, and shows no numbers for an empty arm', () => {
    const report = reportOf(
      { seeds: 1 },
      (cell, { scenario }) => (isCandidate(cell) || scenario > 3 ? { status: 'not_run', reason: 'interrupted' } : 1),
      problems,
    )
    expect(report.verdict).toMatchObject({
      word: 'FAIL',
      exitCode: 2,
      headline: 'the run was interrupted: 4 of 24 cells have a result; run it again',
    })
    expect(report.candidates[0]).toMatchObject({
      difference: { est: null, refused: 'no_data' },
      bounds: { lo: -1, tippingCells: null },
      unseenLoss: null,
    })
    expect(report.actions[0]).toMatchObject({
      code: 'continue',
      text: expect.stringContaining('for the 20 cells without a result'),
    })
  })
})
