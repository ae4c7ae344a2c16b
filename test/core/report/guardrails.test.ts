import { describe, expect, it } from 'vitest'
import type { PlannedGuardrail } from '../../../src/core/campaign/plan.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { GuardrailReport } from '../../../src/core/report/candidate-report.ts'
import { type Coordinates, type Given, inputOf, isCandidate, planOf, recordsOf, reportOf } from './records.ts'

type At = { readonly scenario: number; readonly seed: number }
const usd = (amount: number | null): Pick<RunRecord, 'cost'> => ({
  cost: { usd: amount, provenance: amount === null ? 'uncaptured' : 'observed', subjectUsd: amount, judgeUsd: 0 },
})
const rail = (part: Partial<PlannedGuardrail>): PlannedGuardrail => ({
  name: 'cost',
  endpoint: 'cost',
  ratio: null,
  diff: null,
  require: 'shown',
  ...part,
})
/** Noise of a few percent that is no multiple between the arms. */
const noise = ({ scenario, seed }: At, of: Coordinates): number =>
  1 + (((scenario * 7 + seed * 5 + (isCandidate(of) ? 3 : 0)) % 11) - 5) / 100

function judge(guardrail: PlannedGuardrail, of: (cell: Coordinates, at: At) => Given, scenarios = 24, seeds = 3) {
  const report = reportOf({ scenarios, seeds, gate: { guardrails: [guardrail] } }, of)
  const [candidate] = report.candidates
  const [found] = candidate?.guardrails ?? []
  if (candidate === undefined || found === undefined) throw new Error('no guardrail')
  return { found, candidate, report }
}

describe('cost', () => {
  const costs =
    (factor: number) =>
    (cell: Coordinates, at: At): Given => ({
      score: 1,
      ...usd(0.01 * (isCandidate(cell) ? factor : 1) * noise(at, cell)),
    })
  it.each<readonly [number, number, GuardrailReport['outcome']]>([
    [1.4, 1.2, 'violated'],
    [1.2, 1.2, 'unproven'],
    [0.8, 1, 'ok'],
  ])('%d times the cost under a limit of %d is %s', (factor, ratio, outcome) => {
    const { found } = judge(rail({ ratio }), costs(factor))
    expect(found.outcome).toBe(outcome)
    expect(found.estimate.est).toBeCloseTo(factor, 1)
  })

  it('51: cost beyond its ceiling turns a gain into a regression, and the gate red', () => {
    const of = (cell: Coordinates, at: At): Given => ({
      score: isCandidate(cell) ? 0.9 : 0.5 + (at.scenario % 3) / 10,
      pass: true,
      ...usd(0.01 * (isCandidate(cell) ? 2 : 1) * noise(at, cell)),
    })
    const { candidate, report } = judge(rail({ ratio: 1.2, require: 'not-violated' }), of)
    expect(candidate).toMatchObject({ outcome: 'regress', rule: '4' })
    expect(report.verdict).toMatchObject({ exitCode: 1, word: 'FAIL' })
    expect(report.verdict.headline).toMatch(/breaks the guardrail cost 2.*×.*limit 1\.2×/)
    expect(report.actions).toContainEqual({ code: 'guardrail', text: 'bring cost of concise back under its limit' })
  })

  it('is the cost of a success: half as many successes at one price cost twice', () => {
    const { found } = judge(rail({ ratio: 1.2 }), (cell, at) => ({
      score: isCandidate(cell) && at.seed === at.scenario % 2 ? 0 : 1,
      ...usd(0.01 * noise(at, cell)),
    }))
    expect(found.estimate.est).toBeCloseTo(1.5, 1)
    expect(found.outcome).toBe('violated')
  })

  it('a charge nobody knows proves nothing, and blocks what must be shown', () => {
    const of = (require: PlannedGuardrail['require']) =>
      judge(rail({ ratio: 1.2, require }), (cell, at) => ({
        score: isCandidate(cell) ? 0.9 : 0.5 + (at.scenario % 3) / 10,
        ...usd(isCandidate(cell) && at.scenario === 0 ? null : 0.01),
      }))
    expect(of('shown').found).toMatchObject({ outcome: 'unproven', estimate: { est: null, refused: 'uncaptured' } })
    expect(of('shown').candidate).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'guardrail_unproven' }] })
    expect(of('not-violated').candidate.outcome).toBe('ship')
  })

  it('the judge’s bill is not the candidate’s', () => {
    const { found } = judge(rail({ ratio: 1.2 }), (cell, at) => {
      const own = 0.01 * (isCandidate(cell) ? 2 : 1) * noise(at, cell)
      return { score: 1, cost: { usd: own + 1, provenance: 'observed', subjectUsd: own, judgeUsd: 1 } }
    })
    expect(found.outcome).toBe('violated')
  })
})

describe('latency', () => {
  const times =
    (factor: number) =>
    (cell: Coordinates, at: At): Given => ({
      score: 1,
      providerMs: 1000 * (isCandidate(cell) ? factor : 1) * noise(at, cell),
    })
  it.each<readonly [string, Partial<PlannedGuardrail>, number, GuardrailReport['outcome']]>([
    ['median', { endpoint: 'latency', ratio: 1.2 }, 1.5, 'violated'],
    ['median', { endpoint: 'latency', ratio: 1.2 }, 1, 'ok'],
    ['median', { endpoint: 'latency', diff: 100 }, 1.5, 'violated'],
    ['median', { endpoint: 'latency', diff: 100 }, 1, 'ok'],
    ['p95', { endpoint: 'latencyP95', ratio: 1.2 }, 1.5, 'violated'],
    ['p95', { endpoint: 'latencyP95', ratio: 1.2 }, 1, 'ok'],
    ['p95', { endpoint: 'latencyP95', diff: 200 }, 1.5, 'violated'],
  ])('%s, %j: %d times as long is %s', (name, part, factor, outcome) => {
    expect(judge(rail({ name, ...part }), times(factor), 40).found.outcome).toBe(outcome)
  })

  it('runs cut off at their limit count as longer than any number', () => {
    const of = (cell: Coordinates, at: At): Given =>
      isCandidate(cell) && at.scenario < 18
        ? { status: 'task_fail', failure: { class: 'timeout' }, providerMs: 1000 }
        : { score: 1, providerMs: 1000 * noise(at, cell) }
    const { found } = judge(rail({ endpoint: 'latency', ratio: 1.2 }), of, 24, 1)
    expect(found).toMatchObject({ candidate: null, estimate: { est: null, hi: null, refused: 'beyond_limit' } })
    expect(found.outcome).not.toBe('ok')
  })

  it('a live arm and a replayed one are compared by what the provider needed', () => {
    const of = (cell: Coordinates, at: At): Given => ({
      score: 1,
      wallMs: isCandidate(cell) ? null : 5_000 * noise(at, cell),
      providerMs: 1_000 * noise(at, cell),
    })
    const { found } = judge(rail({ endpoint: 'latency', ratio: 1.2 }), of)
    expect(found.estimate.est).toBeCloseTo(1, 1)
    expect(found.clock).toBe('provider')
  })

  it('the same campaign live and replayed gives the same latency guardrail, whatever the wall clock said', () => {
    const of =
      (live: boolean) =>
      (cell: Coordinates, at: At): Given => ({
        score: 1,
        wallMs: live ? 9_000 * (isCandidate(cell) ? 3 : 1) : null,
        providerMs: 1_000 * noise(at, cell),
        provenance: live ? 'live' : 'replayed',
      })
    const limit = rail({ endpoint: 'latency', ratio: 1.2 })
    expect(judge(limit, of(true)).found).toEqual(judge(limit, of(false)).found)
  })

  it('where no provider call was timed the wall clock stands in, named, and only if both arms were live', () => {
    const of =
      (live: boolean) =>
      (cell: Coordinates, at: At): Given => ({
        score: 1,
        wallMs: live || !isCandidate(cell) ? 1_000 * noise(at, cell) : null,
        providerMs: null,
      })
    const limit = rail({ endpoint: 'latency', ratio: 1.2 })
    expect(judge(limit, of(true)).found).toMatchObject({ clock: 'wall', outcome: 'ok' })
    expect(judge(limit, of(false)).found).toMatchObject({
      clock: 'provider',
      outcome: 'unproven',
      estimate: { est: null, refused: 'no_data' },
    })
  })
})

describe('scores', () => {
  it.each<readonly [string, number, GuardrailReport['outcome']]>([
    ['as many passes', 0, 'unproven'],
    ['half of the passes gone', 0.5, 'violated'],
  ])('pass rate, %s', (_, lost, outcome) => {
    const { found } = judge(rail({ name: 'passRate', endpoint: 'passRate', diff: 0.1 }), (cell, at) => ({
      score: 0.7,
      pass: !(isCandidate(cell) && at.scenario % 10 < lost * 10),
    }))
    expect(found.outcome).toBe(outcome)
  })

  it('the same in 60 scenarios is shown to lose less than a tenth, allowing for those not seen', () => {
    const { found } = judge(rail({ name: 'passRate', endpoint: 'passRate', diff: 0.1 }), () => 1, 60, 1)
    expect(found).toMatchObject({ outcome: 'ok', estimate: { est: 0, method: 'bounds' } })
    expect(found.estimate.lo).toBeCloseTo(-(1 - 0.025 ** (1 / 60)), 5)
  })

  const tone = (value: number | null, error?: string): Pick<RunRecord, 'scores'> => ({
    scores: { tone: { value, pass: null, role: 'judge', ...(error === undefined ? {} : { error }) } },
  })
  function toned(of: (cell: Coordinates, at: At) => Given) {
    const base = planOf({ scenarios: 24, gate: { guardrails: [rail({ name: 'tone', endpoint: 'score', diff: 0.5 })] } })
    const plan = {
      ...base,
      scorers: [...base.scorers, { name: 'tone', role: 'judge', scale: [1, 5], passes: false, lane: null } as const],
    }
    return buildReport(inputOf(plan, recordsOf(plan, of))).candidates[0]?.guardrails[0]
  }

  it('another scorer is limited on its own scale', () => {
    const at = (drop: number) =>
      toned((cell, { scenario }) => ({
        score: 1,
        ...tone(4 + (scenario % 2) / 2 - (isCandidate(cell) ? drop + (scenario % 3) / 10 : 0)),
      }))
    expect(at(1)).toMatchObject({ outcome: 'violated', comparator: 4.25 })
    expect(at(0)?.outcome).toBe('ok')
  })

  it('a judge that failed is missing, at the worst end; one without an opinion leaves the scenario out', () => {
    const failing = toned((cell, { scenario }) => ({
      score: 1,
      ...(isCandidate(cell) && scenario < 4 ? tone(null, 'no answer') : tone(4 + (scenario % 3) / 10)),
    }))
    expect(failing).toMatchObject({ outcome: 'unproven', estimate: { n: 24 } })
    const silent = toned((_, { scenario }) => ({ score: 1, ...tone(scenario < 4 ? null : 4 + (scenario % 3) / 10) }))
    expect(silent?.estimate.n).toBe(20)
  })
})

describe('guardrails together', () => {
  it('all must hold: one open among kept ones keeps a release from shipping', () => {
    const guardrails = [rail({ ratio: 2 }), rail({ name: 'latency', endpoint: 'latency', ratio: 1.001 })]
    const gate = { kind: 'release', margin: 0.1, onInconclusive: 'fail', guardrails } as const
    const report = reportOf({ scenarios: 24, seeds: 3, gate }, (cell, at) => ({
      score: isCandidate(cell) ? 0.9 : 0.5 + (at.scenario % 3) / 10,
      pass: true,
      providerMs: 1000 * noise(at, cell),
      ...usd(0.01 * noise(at, cell)),
    }))
    expect(report.candidates[0]?.guardrails.map(({ outcome }) => outcome)).toEqual(['ok', 'unproven'])
    expect(report.verdict).toMatchObject({ exitCode: 3, outcome: 'inconclusive', rule: '10' })
    expect(report.verdict.headline).toContain('not shown to keep latency')
  })

  it('complete cells of an arm that is short of cells prove nothing about its cost', () => {
    const of = (missing: number) =>
      judge(rail({ ratio: 1.2 }), (cell, at) =>
        isCandidate(cell) && at.scenario < missing
          ? { status: 'infra_error' }
          : { score: 1, ...usd(0.01 * (isCandidate(cell) ? 2 : 1) * noise(at, cell)) },
      ).found
    expect(of(1)).toMatchObject({ outcome: 'violated', estimate: { n: 23 } })
    expect(of(6)).toMatchObject({ outcome: 'unproven', estimate: { n: 18 } })
  })

  it('below ten scenarios a cost proves nothing', () => {
    const { found } = judge(
      rail({ ratio: 1.2 }),
      (cell, at) => ({ score: 1, ...usd(isCandidate(cell) ? 0.05 : 0.01 * noise(at, cell)) }),
      9,
    )
    expect(found.outcome).toBe('unproven')
  })
})
