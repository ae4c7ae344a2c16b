import type { PlannedScenario } from '../campaign/plan.ts'
import { byCodeUnit } from './cells.ts'

/** The independent units of inference: scenarios, or families of them where some are declared. */
export interface Units {
  readonly kind: 'scenario' | 'family'
  readonly count: number
  /** Unit of each scenario. */
  readonly of: readonly number[]
  /** Number of families; null when no scenario names one. */
  readonly families: number | null
}

/**
 * Scenarios of one family are one unit, whose value is the mean of its scenarios; every unit weighs the same. A
 * scenario without a family is a unit of its own.
 */
export function unitsOf(scenarios: readonly PlannedScenario[]): Units {
  const families = new Set(scenarios.flatMap(({ family }) => (family === null ? [] : [family])))
  // Two name spaces: a family may be called as a scenario is.
  const key = ({ id, family }: PlannedScenario): string => (family === null ? `scenario ${id}` : `family ${family}`)
  const keys = [...new Set(scenarios.map(key))].sort(byCodeUnit)
  const at = new Map(keys.map((name, i) => [name, i]))
  return {
    kind: keys.length < scenarios.length ? 'family' : 'scenario',
    count: keys.length,
    of: scenarios.map((scenario) => at.get(key(scenario)) ?? 0),
    families: families.size === 0 ? null : families.size,
  }
}

/**
 * Mean of each unit's scenarios; NaN scenarios do not enter, units of none are left out.
 *
 * @param values one number per scenario
 */
export function unitMeans(units: Units, values: ArrayLike<number>): Float64Array {
  if (units.count === values.length) {
    // One scenario per unit, but in the order of the units.
    const means = new Float64Array(units.count)
    units.of.forEach((unit, scenario) => {
      means[unit] = values[scenario] ?? Number.NaN
    })
    return means.filter((mean) => !Number.isNaN(mean))
  }
  const sums = new Float64Array(units.count)
  const counts = new Uint32Array(units.count)
  units.of.forEach((unit, scenario) => {
    const value = values[scenario] ?? Number.NaN
    if (Number.isNaN(value)) return
    sums[unit] = (sums[unit] ?? 0) + value
    counts[unit] = (counts[unit] ?? 0) + 1
  })
  return sums.map((sum, unit) => sum / (counts[unit] ?? 0)).filter((mean) => !Number.isNaN(mean))
}
