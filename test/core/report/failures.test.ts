import { describe, expect, it } from 'vitest'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { type Coordinates, type Given, isCandidate, reportOf } from './records.ts'

const actions = ({ actions: listed }: CampaignReport): string[] => listed.map(({ text }) => text)
const groups = ({ failures }: CampaignReport) =>
  failures.map(({ class: name, mode, count, example }) => [name, mode, count, example])

describe('failures', () => {
  it('are grouped by class and mode, in the order of the list', () => {
    const timeout = { class: 'timeout', mode: 'deadline', message: 'too late' } as const
    const report = reportOf({ scenarios: 3 }, (_, { scenario }) =>
      scenario === 0 ? { status: 'task_fail' } : scenario === 1 ? { status: 'task_fail', failure: timeout } : 1,
    )
    expect(groups(report)).toEqual([
      ['timeout', 'deadline', 2, 'too late'],
      ['unknown', 'throw', 2, 'the subject threw'],
    ])
    expect(report.failures[0]?.cells).toHaveLength(2)
  })

  it('of one class show every distinct message with its count, the most frequent first, five at most', () => {
    const report = reportOf({ scenarios: 12 }, (_, { scenario }) => ({
      status: 'task_fail',
      failure: { class: 'format_drift', message: scenario < 5 ? 'no JSON' : `field ${scenario} is missing` },
    }))
    const [group] = report.failures
    expect(group).toMatchObject({ count: 24, distinct: 8, example: 'no JSON' })
    expect(group?.messages).toHaveLength(5)
    expect(group?.messages[0]).toEqual({ text: 'no JSON', count: 10 })
    expect(group?.messages[1]).toEqual({ text: 'field 10 is missing', count: 2 })
    expect(group?.variants.map(({ variant, count }) => [variant, count])).toEqual([
      ['concise', 12],
      ['current', 12],
    ])
  })

  it('with half a surrogate pair in their words are reported all the same', () => {
    const report = reportOf({ scenarios: 2 }, () => ({
      status: 'task_fail',
      failure: { class: 'unknown', mode: 'throw', message: 'cut \ud83d off' },
    }))
    expect(report.failures[0]?.example).toBe('cut \ufffd off')
  })

  it('of a scorer have its name, its reason and their own advice', () => {
    const broken = (cell: Coordinates, { scenario }: { scenario: number }): Given =>
      isCandidate(cell) && scenario < 3
        ? {
            status: 'judge_error',
            scores: { label: { value: null, pass: null, role: 'code', error: 'x is not a function (a.eval.ts:9)' } },
          }
        : 1
    const report = reportOf({}, broken)
    expect(groups(report)).toEqual([['scorer_error', 'label', 3, 'x is not a function (a.eval.ts:9)']])
    expect(actions(report)).toContain(
      '3 cells have no score of a scorer that failed: mend the scorer label, then run those cells again',
    )
    expect(actions(report).join('\n')).not.toMatch(/missing cells? again|ctx\.fail/)
  })

  it('for want of money blame no provider', () => {
    const report = reportOf({}, (cell) =>
      isCandidate(cell)
        ? {
            status: 'not_run',
            reason: 'budget',
            failure: { class: 'integration_provider_failure', mode: 'budget', message: 'not sent' },
          }
        : 1,
    )
    expect(actions(report).join('\n')).toContain('raise the budget, or let requests bound their answers (`max_tokens`)')
    expect(actions(report).join('\n')).not.toContain('when the provider answers')
  })

  it('of a scorer beside the primary one are told too', () => {
    const report = reportOf({}, (cell) => ({
      scores: {
        label: { value: 1, pass: true, role: 'code' },
        ...(isCandidate(cell) ? { tone: { value: null, pass: null, role: 'judge', error: 'no answer' } } : {}),
      },
    }))
    expect(groups(report)).toEqual([['scorer_error', 'tone', 12, 'no answer']])
  })

  it('of a primary scorer without an opinion say so', () => {
    const none = { label: { value: null, pass: null, role: 'code' } } as const
    const report = reportOf({}, (cell) => (isCandidate(cell) ? { status: 'judge_error', scores: none } : 1))
    expect(groups(report)).toEqual([
      ['scorer_error', 'label', 12, 'gave no score: the primary scorer may not have "no opinion"'],
    ])
  })

  it('that echo a replay miss are the miss, told once with its own advice', () => {
    const miss = { code: 'replay_miss', severity: 'error', message: 'no recording of POST /v1: record it' } as const
    const report = reportOf({}, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 3
        ? {
            status: 'capture_error',
            integrity: { ok: false, issues: [miss] },
            failure: { class: 'unknown', mode: 'error', message: '404 status code (no body)' },
          }
        : 1,
    )
    expect(report.failures).toEqual([])
    expect(report.integrity.issues).toEqual([
      { code: 'replay_miss', severity: 'error', count: 3, example: miss.message },
    ])
    expect(actions(report).filter((text) => text.includes('-u'))).toHaveLength(1)
    expect(actions(report).join('\n')).not.toMatch(/ctx\.fail|mend `run`/)
  })

  it.each([
    ['budget', '3 cells without a result for want of money or of a price: raise the budget'],
    ['lane-exhausted', 'by a used-up quota'],
    ['lane-failed', 'by a closed lane'],
  ] as const)('of cells that %s kept from a result are no fault of subject or scorer', (reason, advice) => {
    const refused = (scenario: number): Given =>
      scenario === 0
        ? {
            status: 'judge_error',
            reason,
            scores: { label: { value: null, pass: null, role: 'judge', error: 'HTTP 424: not sent' } },
          }
        : { status: 'not_run', reason, failure: { class: 'unknown', mode: reason, message: 'nothing is left' } }
    const report = reportOf({}, (cell, { scenario }) => (isCandidate(cell) && scenario < 3 ? refused(scenario) : 1))
    expect(groups(report).map(([name, mode, count]) => [name, mode, count])).toEqual([
      ['unknown', reason, 2],
      ['scorer_error', 'label', 1],
    ])
    expect(actions(report)).toContainEqual(expect.stringContaining(advice))
    expect(actions(report).join('\n')).not.toMatch(/ctx\.fail|mend the scorer/)
  })

  it('of `run` itself, of an assertion and of ctx.fail without a class have different advice', () => {
    const of = (mode: string | undefined) =>
      reportOf({}, (cell) =>
        isCandidate(cell)
          ? {
              status: 'task_fail',
              failure: { class: 'unknown', ...(mode === undefined ? {} : { mode }), message: 'm' },
            }
          : 1,
      )
    const [bug, assertion, own] = [of('error'), of('assertion'), of(undefined)].map((report) =>
      actions(report).find((text) => text.includes('failed as unknown')),
    )
    expect(bug).toContain('mend `run`')
    expect(assertion).toContain('assertion')
    expect(own).toContain('ctx.fail')
  })
})

describe('an arm without one scored cell', () => {
  it('that failed everywhere is told apart from one that was not measured', () => {
    const failed = reportOf({}, (cell) => (isCandidate(cell) ? { status: 'task_fail' } : 1))
    expect(failed.verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(failed.verdict.headline).toContain('the subject itself failed in all 12 cells')
    expect(failed.verdict.headline).not.toContain('nothing was measured')
    const missing = reportOf({}, (cell) => (isCandidate(cell) ? { status: 'infra_error' } : 1))
    expect(missing.verdict.headline).toContain('not one scored cell of 12: nothing was measured')
  })

  it('has no point estimate anywhere', () => {
    const gate = { comparator: null, atLeast: 0.9, candidates: ['concise', 'current'] } as const
    const report = reportOf({ gate }, () => ({ status: 'infra_error' }))
    for (const { atLeast } of report.candidates) {
      expect(atLeast?.mean).toMatchObject({ est: null, lo: null, hi: null, refused: 'no_data' })
    }
    const rail = { name: 'passRate', endpoint: 'passRate', ratio: null, diff: 0.1, require: 'shown' } as const
    const railed = reportOf({ gate: { guardrails: [rail] } }, (cell) =>
      isCandidate(cell) ? { status: 'infra_error' } : 1,
    )
    expect(railed.candidates[0]?.guardrails[0]?.estimate).toMatchObject({ est: null, refused: 'no_data' })
  })
})

describe('an arm below the coverage floor', () => {
  it('has bounds and no point estimate: the middle between extremes is nobody’s mean', () => {
    const gate = { comparator: 'current', atLeast: 0.9 } as const
    const report = reportOf({ gate, scenarios: 24 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario > 3 ? { status: 'infra_error' } : 1,
    )
    const [candidate] = report.candidates
    expect(candidate?.difference).toMatchObject({ est: null, refused: 'missing_cells' })
    expect(candidate?.difference?.lo).toBeLessThan(-0.8)
    expect(candidate?.completeCase).toMatchObject({ est: 0, n: 4 })
    expect(candidate?.atLeast?.mean).toMatchObject({ est: null, refused: 'missing_cells' })
    expect(JSON.stringify(report)).not.toContain('NaN')
  })
})

describe('intervals', () => {
  it('of levels and differences end where the scale ends', () => {
    // 11 of 12 pass: the t interval of the mean reaches to 1.10.
    const nearTop = reportOf({}, (cell, { scenario }) => (isCandidate(cell) ? Number(scenario > 0) : 1))
    expect(nearTop.variants[1]?.mean).toMatchObject({ est: 0.916667, hi: 1 })
    expect(nearTop.variants[1]?.passRate.hi).toBe(1)
    const far = reportOf({ scenarios: 6 }, (cell, { scenario }) =>
      isCandidate(cell) ? Number(scenario === 0) : Number(scenario !== 0),
    )
    const { lo = null, hi = null } = far.candidates[0]?.difference ?? {}
    expect([lo, hi]).toEqual([-1, expect.any(Number)])
    // What decides reads the uncut interval, so nothing here changes a verdict.
    expect(far.candidates[0]?.outcome).toBe('inconclusive')
  })

  it('on another scale end where that one ends', () => {
    const report = reportOf({ scale: [1, 5] }, (cell, { scenario }) => (isCandidate(cell) && scenario === 0 ? 1 : 5))
    expect(report.variants[1]?.mean.hi).toBe(5)
    expect(report.candidates[0]?.difference?.hi).toBeLessThanOrEqual(4)
  })
})
