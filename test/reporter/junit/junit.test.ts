import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { type JunitInput, renderJunit } from '../../../src/reporter/junit.ts'
import { ScenarioTable } from '../../../src/reporter/scenarios.ts'
import { inputOf, type PlanParts, planOf, recordsOf } from '../../core/report/records.ts'
import { HOLD, REPORTS } from '../reports.ts'
import { type Element, elementsOf, parseXml } from '../well-formed-xml.ts'
import { expectReadable } from './readers.ts'

function junit(
  campaigns: readonly (readonly [CampaignReport, Iterable<RunRecord>])[],
  part: Partial<JunitInput> = {},
): Element {
  const document = renderJunit({
    project: 'evals',
    campaigns: campaigns.map(([report, records]) => ({ report, table: new ScenarioTable(records) })),
    problems: [],
    ...part,
  })
  const root = parseXml(document)
  expectReadable(root)
  return root
}

/** A campaign from its records to its cases. */
function played(parts: PlanParts, of: Parameters<typeof recordsOf>[1]): Element {
  const plan = planOf(parts)
  const records = recordsOf(plan, of)
  return junit([[buildReport(inputOf(plan, records)), records]])
}

interface Found {
  readonly suite: string
  readonly classname: string
  readonly name: string
  readonly outcome: string
  readonly text: string
}

function casesOf(root: Element): Found[] {
  return root.children.flatMap((suite) =>
    suite.children.map(({ attributes, children }) => {
      const result = children.find(({ name }) => name !== 'system-out')
      return {
        suite: suite.attributes.name ?? '',
        classname: attributes.classname ?? '',
        name: attributes.name ?? '',
        outcome: result?.name ?? 'passed',
        text: children.map(({ text }) => text).join('\n'),
      }
    }),
  )
}

const outcomeOf = (root: Element, name: string, classname?: string): string | undefined =>
  casesOf(root).find((one) => one.name === name && (classname === undefined || one.classname === classname))?.outcome

describe('the suite gate', () => {
  test('a shown loss is a failure of the primary score, and of the verdict', () => {
    const root = played({ scenarios: 24 }, ({ variant }) => (variant === 'concise' ? 0 : 1))
    expect(casesOf(root).filter(({ suite }) => suite === 'gate')).toMatchObject([
      { classname: 'evals.run', name: 'complete', outcome: 'passed' },
      { classname: 'triage.gate', name: 'verdict', outcome: 'failure' },
      { classname: 'triage.gate', name: 'concise: label', outcome: 'failure' },
    ])
  })

  test('what is not decided is skipped with its reason', () => {
    const root = played({ scenarios: 3 }, () => 1)
    const few = played({ scenarios: 3 }, ({ variant, scenario }) =>
      variant === 'concise' && scenario === 's01' ? 0 : 1,
    )
    expect(outcomeOf(root, 'concise: label')).toBe('passed')
    expect(casesOf(few).find(({ name }) => name === 'concise: label')).toMatchObject({
      outcome: 'skipped',
      text: expect.stringMatching(/^underpowered: /),
    })
    expect(outcomeOf(few, 'verdict')).toBe('skipped')
  })

  test('an invalid campaign is an error', () => {
    const plan = planOf()
    const report = buildReport(inputOf(plan, [], [{ code: 'manifest_mismatch', text: 'two files plan it' }]))
    expect(outcomeOf(junit([[report, []]]), 'verdict')).toBe('error')
  })

  test('a broken must-pass scenario fails its own case, not the primary score', () => {
    const scenarios = Array.from({ length: 8 }, (_, i) => ({ id: `s${i}`, mustPass: i === 0 }))
    const root = played({ scenarios }, ({ variant, scenario }) => (variant === 'concise' && scenario === 's0' ? 0 : 1))
    expect(outcomeOf(root, 'concise: must-pass')).toBe('failure')
    expect(outcomeOf(root, 'concise: label')).toBe('skipped')
    expect(outcomeOf(root, 's0', 'triage.concise')).toBe('failure')
    expect(outcomeOf(root, 's0', 'triage.current')).toBe('passed')
  })

  test('guardrails are cases of their own', () => {
    const names = casesOf(junit([[REPORTS.regress, []]])).map(({ name, outcome }) => `${name} ${outcome}`)
    for (const { id, guardrails } of REPORTS.regress.candidates) {
      for (const { name, outcome } of guardrails) {
        const word = { ok: 'passed', violated: 'failure', unproven: 'skipped' }[outcome]
        expect(names).toContain(`${id}: guardrail ${name} ${word}`)
      }
    }
  })

  test('without a gate there is its coverage', () => {
    const root = played({ gate: null }, () => 1)
    expect(outcomeOf(root, 'coverage')).toBe('passed')
    expect(casesOf(root).some(({ name }) => name === 'verdict')).toBe(false)
  })

  test('a run that is red beside its reports is an error', () => {
    const root = junit([], { problems: ['evals/a.eval.ts did not load'] })
    expect(casesOf(root)).toMatchObject([{ name: 'complete', outcome: 'error', text: 'evals/a.eval.ts did not load' }])
  })
})

describe('the suite scenarios', () => {
  const flaky = (seed: number) => (seed % 2 === 0 ? 1 : 0)

  test('has one case for each variant and scenario, whatever the seeds; a low score is no failure', () => {
    const root = played({ scenarios: 8, seeds: 5 }, ({ seed }) => flaky(seed))
    const cases = casesOf(root).filter(({ suite }) => suite === 'scenarios')
    expect(cases).toHaveLength(2 * 8)
    expect(cases.every(({ outcome }) => outcome === 'passed')).toBe(true)
    expect(cases.find(({ classname }) => classname === 'triage.concise')?.text).toBe(
      'passed 3/5, mean 0.600 vs 3/5, mean 0.600 (current)',
    )
  })

  test('names do not depend on what came out', () => {
    const names = (root: Element) => casesOf(root).map(({ suite, classname, name }) => [suite, classname, name])
    const parts = { scenarios: 8, seeds: 3 }
    const good = played(parts, () => 1)
    expect(names(played(parts, ({ seed }) => flaky(seed)))).toEqual(names(good))
    expect(names(played(parts, () => ({ status: 'infra_error' })))).toEqual(names(good))
  })

  test('cells that a provider or a judge did not answer are skipped, and only where none was measured', () => {
    const root = played({ scenarios: 2, seeds: 2 }, ({ variant, scenario, seed }) => {
      if (variant !== 'concise') return 1
      if (scenario === 's01') return { status: 'judge_error' }
      return seed === 0 ? { status: 'infra_error', failure: { class: 'unknown', message: '503 from the provider' } } : 1
    })
    expect(outcomeOf(root, 's01', 'triage.concise')).toBe('skipped')
    const part = casesOf(root).find(({ name, classname }) => name === 's02' && classname === 'triage.concise')
    expect(part).toMatchObject({
      outcome: 'passed',
      text: expect.stringContaining('infra_error: 503 from the provider'),
    })
  })

  test('what is red in the run is an error: captures that cannot be trusted, bugs, lost workers', () => {
    const faults: Partial<RunRecord>[] = [
      {
        status: 'capture_error',
        integrity: { ok: false, issues: [{ code: 'replay_miss', severity: 'error', message: 'no recording matches' }] },
      },
      { status: 'task_fail', failure: { class: 'unknown', mode: 'error', message: 'x is not a function' } },
      { status: 'judge_error', scores: { label: { value: null, pass: null, role: 'code', error: 'boom' } } },
      { status: 'infra_error', reason: 'worker-lost', failure: { class: 'unknown', message: 'the thread is gone' } },
    ]
    for (const fault of faults) {
      const root = played({ scenarios: 8 }, ({ scenario, variant }) =>
        variant === 'concise' && scenario === 's01' ? fault : 1,
      )
      expect(outcomeOf(root, 's01', 'triage.concise')).toBe('error')
    }
  })

  test('quotes what a variant gave where it is worse', () => {
    const root = played({ scenarios: 8 }, ({ scenario, variant }) =>
      variant === 'concise' && scenario === 's01'
        ? {
            score: 0,
            scores: { label: { value: 0, pass: false, role: 'code', rationale: 'expected "billing", got "sales"' } },
            output: { digest: planOf().scorerDigest, preview: 'sales\n[[ATTACHMENT|/etc/passwd]]' },
          }
        : 1,
    )
    const { text } = casesOf(root).find(({ name, classname }) => name === 's01' && classname === 'triage.concise') ?? {}
    expect(text).toContain('expected "billing", got "sales"')
    expect(text).toContain('output:\nsales')
    // Jenkins and GitLab attach the file that such a line names.
    expect(text).not.toContain('[[ATTACHMENT|')
  })
})

test.each(Object.entries(REPORTS))('%s is readable', (_, fixed) => {
  junit([[fixed, []]])
})

test('golden', async () => {
  const plan = planOf({ scenarios: [{ id: 'vat-id' }, { id: 'refund & return' }], seeds: 3 })
  const records = recordsOf(plan, ({ variant, scenario }) => (variant === 'concise' && scenario === 'vat-id' ? 0 : 1))
  const document = renderJunit({
    project: 'evals',
    campaigns: [
      { report: REPORTS.regress, table: new ScenarioTable(records) },
      { report: { ...HOLD, campaignId: 'other' }, table: new ScenarioTable([]) },
    ],
    problems: [],
  })
  await expect(document).toMatchFileSnapshot('../__golden__/junit.xml')
})

test('campaigns, variants and scenarios whose joined names meet stay apart', () => {
  const records = (campaign: string, variant: string) => {
    const plan = planOf({ campaignId: campaign, variants: [variant], scenarios: 1, gate: null })
    return [
      buildReport(
        inputOf(
          plan,
          recordsOf(plan, () => 1),
        ),
      ),
      recordsOf(plan, () => 1),
    ] as const
  }
  const root = junit([records('a', 'b.c'), records('a.b', 'c')])
  expect(
    casesOf(root)
      .filter(({ classname }) => classname === 'a.b.c')
      .map(({ name }) => name),
  ).toEqual(['s01', 's01 (2)'])
})

test('a large campaign stays far below the 30 MB that GitLab takes', () => {
  const plan = planOf({ scenarios: 300, seeds: 6, variants: ['current', 'concise', 'other'] })
  const records = recordsOf(plan, ({ variant }) =>
    variant === 'current' ? 1 : { score: 0, output: { digest: plan.scorerDigest, preview: '漢'.repeat(2_000) } },
  )
  const document = renderJunit({
    project: 'evals',
    campaigns: [{ report: buildReport(inputOf(plan, records)), table: new ScenarioTable(records) }],
    problems: [],
  })
  expect(Buffer.byteLength(document)).toBeLessThan(3_000_000)
  const root = parseXml(document)
  expectReadable(root)
  expect([...elementsOf(root)].filter(({ name }) => name === 'testcase')).toHaveLength(3 * 300 + 1 + 1 + 2)
})
