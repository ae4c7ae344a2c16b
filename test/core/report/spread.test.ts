import { describe, expect, it } from 'vitest'
import { buildReport } from '../../../src/core/report/build.ts'
import {
  type Coordinates,
  type Given,
  idDigest,
  inputOf,
  isCandidate,
  planOf,
  recordsOf,
  reportOf,
  warningCodes,
} from './records.ts'

type At = { readonly scenario: number; readonly seed: number }

describe('variance components', () => {
  /** Differences −1, 0 or 1 that depend on the scenario alone, or on the seed alone. */
  const byScenario = (cell: Coordinates, { scenario }: At): Given =>
    isCandidate(cell) ? ((scenario * 7) % 10) / 10 : 0.5
  const bySeed = (cell: Coordinates, { scenario, seed }: At): Given =>
    isCandidate(cell) ? ([0.2, 0.5, 0.8][(scenario + seed) % 3] ?? 0) : 0.5

  it('differences between scenarios alone: no seed helps, K dependent cells are worth one', () => {
    const [one] = reportOf({ scenarios: 20, seeds: 3, gate: { margin: 0.05 } }, byScenario).candidates
    expect(one?.variance).toMatchObject({ sigma2: 0, icc: 1, deff: 3, nEff: 20 })
    expect(one?.power).toMatchObject({ seedsNarrowBy: 0, requiredScenarios: one?.power.requiredAtAnySeeds })
    expect(one?.power.advice).toMatch(/^buy scenarios: \d+ scenarios needed, 20 there; below \d+ no number of seeds/)
  })

  it('differences between seeds alone: seeds are worth as much as scenarios', () => {
    const [one] = reportOf({ scenarios: 21, seeds: 3, gate: { margin: 0.05 } }, bySeed).candidates
    expect(one?.variance).toMatchObject({ icc: 0, deff: 1, nEff: 63 })
    expect(one?.variance.tau2).toBeCloseTo(0, 9)
    expect(one?.power.advice ?? '').not.toContain('no number of seeds')
  })

  it('one seed cannot show its own noise, and says so', () => {
    const report = reportOf({ scenarios: 20, gate: { margin: 0.05 } }, byScenario)
    const [one] = report.candidates
    expect(one?.variance).toMatchObject({ sigma2: null, refused: 'zero_variance_unidentified' })
    expect(one?.power.advice).toContain('seeds=1: flakiness unmeasured')
    expect(one?.power.requiredScenarios).toBeGreaterThan(20)
    expect(report.variants[0]?.flakiness).toMatchObject({ share: null, refused: 'zero_variance_unidentified' })
    expect(report.variants[0]?.flakiness.unknown).toBe(20)
  })

  it('says what the missing scenarios would cost', () => {
    const report = reportOf({ scenarios: 20, seeds: 3, gate: { margin: 0.05 } }, byScenario)
    const { requiredScenarios, requiredUsd } = report.candidates[0]?.power ?? {}
    // Two arms at $0.0004 a cell, three seeds.
    expect(requiredUsd).toBeCloseTo(((requiredScenarios ?? 0) - 20) * 3 * 0.0008, 6)
    expect(report.actions.find(({ code }) => code === 'buy')?.text).toMatch(/^concise: buy scenarios.*about \$/)
  })
})

describe('flakiness and reliability', () => {
  const passes = (cell: Coordinates, { scenario, seed }: At): Given =>
    scenario < 4 ? 1 : scenario < 6 ? 0 : seed < (isCandidate(cell) ? 1 : 2) ? 1 : 0

  it('counts stable and divided scenarios, and lists the divided ones with their interval', () => {
    const { variants } = reportOf({ scenarios: 8, seeds: 4 }, passes)
    expect(variants[0]?.flakiness).toMatchObject({ flaky: 2, stablePass: 4, stableFail: 2, unknown: 0, share: 0.25 })
    const [first] = variants[0]?.flakiness.scenarios ?? []
    expect(first).toMatchObject({ scenario: 's07', passed: 2, runs: 4 })
    expect(first?.lo).toBeCloseTo(0.15, 2)
    expect(first?.hi).toBeCloseTo(0.85, 2)
    // 2·2·2 / (4·3) in a quarter of the scenarios.
    expect(variants[0]?.flakiness.disagreement.est).toBeCloseTo(2 / 12, 6)
  })

  it('the change of flakiness is paired by scenario', () => {
    const { candidates } = reportOf({ scenarios: 8, seeds: 4 }, passes)
    expect(candidates[0]?.flakinessChange).toMatchObject({ n: 8, method: 't' })
    expect(candidates[0]?.flakinessChange.est).toBeCloseTo((2 * 0.5 - 2 * (2 / 3)) / 8, 6)
  })

  it('pass@k counts a scenario that passed once, pass^k one that never failed; neither is a power of the mean', () => {
    const { variants } = reportOf({ scenarios: 8, seeds: 4 }, passes)
    expect(variants[0]?.reliability).toMatchObject({ k: 4, passAtK: { est: 0.75 }, passHatK: { est: 0.5 } })
    expect(variants[0]?.passRate.est).toBe(0.625)
  })

  it('a scenario with a missing run has bounds, and no place in the estimate', () => {
    const { variants } = reportOf({ scenarios: 8, seeds: 4 }, (cell, at) =>
      at.scenario === 0 && at.seed === 3 ? { status: 'infra_error' } : passes(cell, at),
    )
    expect(variants[0]?.reliability).toMatchObject({
      passHatK: { n: 7 },
      bounds: { passAtK: [0.75, 0.75], passHatK: [0.375, 0.5] },
    })
  })

  it('without passes there is nothing to be reliable about', () => {
    const { variants } = reportOf({ scenarios: 8, seeds: 2 }, () => ({ score: 0.4, pass: null }))
    expect(variants[0]?.reliability).toMatchObject({
      passAtK: { est: null, refused: 'not_applicable' },
      bounds: { passAtK: null },
    })
  })
})

describe('latency', () => {
  it('p95 has no upper bound below 59 runs, and one from there on', () => {
    const of = (_: Coordinates, { scenario }: At): Given => ({ providerMs: 1000 + scenario })
    const at = (scenarios: number) => reportOf({ scenarios }, of).variants[0]?.latency.p95Ms
    expect(at(58)).toMatchObject({ hi: null, refused: 'too_few_scenarios', level: 0.9, unit: 'run' })
    expect(at(59)).toMatchObject({ hi: 1058, n: 59 })
  })

  it('seeds that agree are no further runs: 20 scenarios of 5 equal seeds do not bound p95', () => {
    const equal = reportOf({ scenarios: 20, seeds: 5 }, (_, { scenario }) => ({ providerMs: 1000 + scenario }))
    expect(equal.variants[0]?.latency.p95Ms).toMatchObject({ n: 100, hi: null })
    const mixed = reportOf({ scenarios: 20, seeds: 5 }, (_, { scenario, seed }) => ({
      providerMs: 1000 + (((scenario * 5 + seed) * 37) % 101),
    }))
    expect(mixed.variants[0]?.latency.p95Ms.hi).not.toBeNull()
  })

  it('what was cut off is counted with the limit, never averaged in', () => {
    const { variants } = reportOf({ scenarios: 20 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 3
        ? { status: 'task_fail', failure: { class: 'timeout' }, providerMs: 600_000 }
        : { providerMs: 1000 },
    )
    expect(variants[1]?.latency).toMatchObject({
      censored: 3,
      limitMs: 600_000,
      medianMs: { est: 1000 },
      p95Ms: { est: null, refused: 'beyond_limit' },
    })
  })
})

describe('quality and cost', () => {
  const priced = (usd: number, score: number): Given => ({
    score,
    cost: { usd, provenance: 'observed', subjectUsd: usd, judgeUsd: 0 },
  })
  const noise = ({ scenario }: At, salt: number): number => (((scenario * 7 + salt) % 11) - 5) / 100

  it('dominated, on the frontier, undecided', () => {
    const of = (cell: Coordinates, at: At): Given => {
      if (cell.variant === 'current') return priced(0.01 * (1 + noise(at, 1)), 0.6 + noise(at, 2))
      if (cell.variant === 'cheap') return priced(0.005 * (1 + noise(at, 3)), 0.8 + noise(at, 4))
      return priced(0.005 * (1 + noise(at, 5)), 0.8 + noise(at, 6))
    }
    const two = reportOf({ scenarios: 40, variants: ['current', 'cheap'] }, of)
    expect(two.variants.map(({ id, frontier }) => [id, frontier.class, frontier.dominatedBy])).toEqual([
      ['current', 'dominated', ['cheap']],
      ['cheap', 'frontier', []],
    ])
    expect(two.variants[0]?.frontier.probability).toBe(0)
    const three = reportOf({ scenarios: 40, variants: ['current', 'cheap', 'twin'] }, of)
    expect(three.variants.map(({ frontier }) => frontier.class)).toEqual(['dominated', 'undecided', 'undecided'])
  })

  it('a variant with an unknown charge has no place, and takes none from the others', () => {
    const { variants } = reportOf({ scenarios: 40, variants: ['current', 'cheap', 'dark'] }, (cell, at) =>
      cell.variant === 'dark'
        ? { score: 1, cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null } }
        : priced(
            cell.variant === 'cheap' ? 0.005 : 0.01 * (1 + noise(at, 1)),
            cell.variant === 'cheap' ? 0.9 : 0.5 + noise(at, 2),
          ),
    )
    expect(variants.map(({ id, frontier }) => [id, frontier.class, frontier.refused])).toEqual([
      ['current', 'dominated', undefined],
      ['cheap', 'frontier', undefined],
      ['dark', null, 'uncaptured'],
    ])
  })

  it('cost per success of both arms is compared with an interval', () => {
    const { candidates } = reportOf({ scenarios: 40 }, (cell, at) =>
      priced(0.01 * (1 + noise(at, isCandidate(cell) ? 1 : 4)), isCandidate(cell) && at.scenario % 2 ? 0 : 1),
    )
    const { perCell, perSuccess } = candidates[0]?.costRatio ?? {}
    expect(perCell?.est).toBeCloseTo(1, 1)
    expect(perSuccess?.est).toBeCloseTo(2, 1)
    expect(perSuccess?.lo).toBeGreaterThan(1.2)
  })
})

describe('missing cells', () => {
  const lost = (candidate: number, comparator: number) =>
    reportOf({ scenarios: 100, coverage: 0.5 }, (cell, { scenario }) =>
      scenario < (isCandidate(cell) ? candidate : comparator) ? { status: 'infra_error' } : 1,
    )
  it.each([
    [10, 2, true],
    [6, 0, true],
    [2, 0, false],
    [12, 10, false],
  ])('%d against %d of 100', (candidate, comparator, differs) => {
    expect(warningCodes(lost(candidate, comparator)).includes('missing_differs')).toBe(differs)
  })
  it('says the exact p', () => {
    expect(lost(10, 2).warnings.find(({ code }) => code === 'missing_differs')?.text).toContain('Fisher p 0.033')
  })
})

describe('failures', () => {
  it('cluster by class, mode and variant, with an example and cells of each', () => {
    const { failures, actions } = reportOf({ scenarios: 6 }, (cell, { scenario }) =>
      scenario < (isCandidate(cell) ? 3 : 1)
        ? {
            status: 'task_fail',
            failure: { class: 'format_drift', mode: 'json', message: `${cell.variant} ${scenario}` },
          }
        : 1,
    )
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject({
      class: 'format_drift',
      mode: 'json',
      count: 4,
      variants: [
        { variant: 'concise', count: 3, example: 'concise 0' },
        { variant: 'current', count: 1, example: 'current 0' },
      ],
    })
    expect(failures[0]?.variants[0]?.cells).toHaveLength(3)
    expect(actions).toContainEqual({
      code: 'failures',
      text: '4 cells failed as format_drift: tighten the output format the prompt asks for',
    })
  })
})

describe('singular and plural', () => {
  it('one must-pass scenario is one', () => {
    const scenarios = [{ id: 'refund', mustPass: true }, { id: 'b' }, { id: 'c' }]
    const report = reportOf({ scenarios, coverage: 0.1 }, (cell) =>
      isCandidate(cell) && cell.scenario === 'refund' ? { status: 'infra_error' } : 1,
    )
    expect(report.warnings.find(({ code }) => code === 'must_pass_unmeasured')?.text).toBe(
      'concise: must-pass scenario refund is not fully measured',
    )
  })
})

describe('one thing under two names', () => {
  it('45: variants of the same contents are pointed out, and a candidate listed twice is judged once', () => {
    const plan = planOf()
    const one = { ...plan, variants: plan.variants.map((variant) => ({ ...variant, digest: idDigest('one') })) }
    const records = recordsOf(plan, () => ({ variantDigest: idDigest('one') }))
    expect(buildReport(inputOf(one, records)).warnings).toContainEqual({
      code: 'same_variant',
      text: 'concise and current have the same contents: one thing is measured twice',
    })
    expect(warningCodes(reportOf({}, () => 1))).not.toContain('same_variant')
    const twice = reportOf({ scenarios: 12, gate: { candidates: ['concise', 'concise'] } }, () => 1)
    expect(twice.candidates.map(({ id }) => id)).toEqual(['concise'])
    expect(twice.candidates[0]?.difference?.level).toBe(0.95)
  })
})
