import { flakinessOf as classOf, seedDisagreement } from '../stats/flakiness.ts'
import { passAtK, passHatK } from '../stats/pass-at-k.ts'
import { wilson } from '../stats/wilson.ts'
import type { Arm } from './arm.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import { meanEstimate, noEstimate, SHARE } from './estimate.ts'
import type { Estimate } from './report.ts'
import { type Units, unitMeans } from './units.ts'
import type { Flakiness, VariantSummary } from './variant-report.ts'

const KEYS = {
  'stable-pass': 'stablePass',
  'stable-fail': 'stableFail',
  flaky: 'flaky',
  unknown: 'unknown',
} as const
const LISTED = 20
const LEVEL = 0.95

/** Chance that two runs of a scenario disagree; NaN below two runs. */
export function disagreements(arm: Arm): Float64Array {
  return Float64Array.from(arm.passed, (passed, scenario) => {
    return seedDisagreement(passed, arm.judged[scenario] ?? 0).value ?? Number.NaN
  })
}

export const isFlaky = (arm: Arm, scenario: number): boolean => {
  const passed = arm.passed[scenario] ?? 0
  return passed > 0 && passed < (arm.judged[scenario] ?? 0)
}

export function flakinessOf(cells: Cells, arm: Arm, units: Units, level: number): Flakiness {
  const counts = { flaky: 0, stablePass: 0, stableFail: 0, unknown: 0 }
  const divided: Flakiness['scenarios'][number][] = []
  cells.scenarios.forEach(({ id }, scenario) => {
    const passed = arm.passed[scenario] ?? 0
    const runs = arm.judged[scenario] ?? 0
    const kind = KEYS[classOf(passed, runs)]
    counts[kind]++
    if (kind === 'flaky') {
      const [lo, hi] = wilson(passed, runs, LEVEL) ?? [0, 1]
      divided.push({ scenario: id, passed, runs, lo, hi })
    }
  })
  const evenness = ({ passed, runs }: { passed: number; runs: number }): number => Math.abs(passed / runs - 0.5)
  divided.sort((a, b) => evenness(a) - evenness(b) || byCodeUnit(a.scenario, b.scenario))
  const known = counts.flaky + counts.stablePass + counts.stableFail
  const values = unitMeans(units, disagreements(arm))
  // One seed cannot disagree with itself.
  const refused = cells.seeds.length < 2 ? 'zero_variance_unidentified' : 'no_data'
  return {
    ...counts,
    share: known === 0 ? null : counts.flaky / known,
    disagreement: values.length === 0 ? noEstimate(level, units, refused) : meanEstimate(values, level, units, SHARE),
    scenarios: divided.slice(0, LISTED),
    ...(known === 0 ? { refused } : {}),
  }
}

/** Whether the candidate's seeds disagree more often than the comparator's, paired by scenario. */
export function flakinessChangeOf(
  candidate: Arm,
  comparator: Arm,
  units: Units,
  seeds: number,
  level: number,
): Estimate {
  const before = disagreements(comparator)
  const values = unitMeans(
    units,
    disagreements(candidate).map((after, scenario) => after - (before[scenario] ?? Number.NaN)),
  )
  if (values.length > 0) return meanEstimate(values, level, units, [-1, 1])
  return noEstimate(level, units, seeds < 2 ? 'zero_variance_unidentified' : 'no_data')
}

/** pass@k and pass^k for k = the planned seeds, over scenarios of which every run was judged; bounds over all. */
export function reliabilityOf(
  arm: Arm,
  units: Units,
  k: number,
  level: number,
  hasPass: boolean,
): VariantSummary['reliability'] {
  type Estimator = typeof passAtK
  const estimate = (of: Estimator): Estimate => {
    if (!hasPass) return noEstimate(level, units, 'not_applicable')
    const values = Float64Array.from(arm.passed, (passed, scenario) =>
      arm.judged[scenario] === k ? (of(k, passed, k) ?? Number.NaN) : Number.NaN,
    )
    const means = unitMeans(units, values)
    return means.length === 0 ? noEstimate(level, units, 'k_exceeds_n') : meanEstimate(means, level, units, SHARE)
  }
  const bounds = (of: Estimator): readonly [number, number] | null => {
    if (!hasPass) return null
    const side = (missingPass: boolean): number => {
      const values = Float64Array.from(arm.passed, (passed, scenario) => {
        const missing = k - (arm.judged[scenario] ?? 0)
        return of(k, passed + (missingPass ? missing : 0), k) ?? Number.NaN
      })
      const means = unitMeans(units, values)
      return means.reduce((sum, value) => sum + value, 0) / means.length
    }
    return [side(false), side(true)]
  }
  return {
    k,
    passAtK: estimate(passAtK),
    passHatK: estimate(passHatK),
    bounds: { passAtK: bounds(passAtK), passHatK: bounds(passHatK) },
  }
}
