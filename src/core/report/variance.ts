import { moments } from '../stats/mean-interval.ts'
import { type PowerTarget, requiredScenarios } from '../stats/power.ts'
import { seedsCanSave, varianceComponents } from '../stats/variance-components.ts'
import { type Arm, cellValue, recordAt } from './arm.ts'
import type { CandidateReport } from './candidate-report.ts'
import type { Cells } from './cells.ts'
import { FEWEST_UNITS, T_UNITS } from './decision.ts'
import { detectableEffect } from './detectable.ts'
import { plural } from './numbers.ts'
import type { Variance } from './report.ts'
import type { Units } from './units.ts'

/** Smallest effect, in standard deviations, for which a number of scenarios is worth naming. */
const SMALLEST_EFFECT = 0.003

export function varianceOf(rows: readonly (readonly number[])[]): Variance {
  const found = varianceComponents(rows)
  const { tau2, icc, designEffect: deff, effectiveRows: nEff } = found
  // What rounding leaves of equal seeds is no variance.
  const sigma2 = (found.sigma2 ?? 1) <= 1e-20 * (tau2 ?? 0) ? 0 : found.sigma2
  const base = { tau2, sigma2, icc, deff, nEff }
  if (found.refused === undefined) return base
  return { ...base, refused: found.refused === 'no_variation' ? 'zero_spread' : found.refused }
}

/** Values of one variant, scenario by scenario. */
export function rowsOf(cells: Cells, variant: number, bottom: number): number[][] {
  return cells.scenarios.map((_, scenario) =>
    cells.seeds.flatMap((_seed, seed) => cellValue(recordAt(cells, variant, scenario, seed), bottom) ?? []),
  )
}

/** Candidate less comparator, seed by seed; empty for a scenario of which a seed is missing in either. */
export function pairedRows(cells: Cells, candidate: Arm, comparator: Arm, bottom: number): number[][] {
  const seeds = cells.seeds.length
  return cells.scenarios.map((_, scenario) => {
    if (candidate.observed[scenario] !== seeds || comparator.observed[scenario] !== seeds) return []
    const value = (arm: Arm, seed: number): number =>
      cellValue(recordAt(cells, arm.variant, scenario, seed), bottom) ?? bottom
    return cells.seeds.map((_seed, seed) => value(candidate, seed) - value(comparator, seed))
  })
}

/**
 * Rows of the units of inference. A family is one unit, and its row of one seed the mean over its scenarios: their
 * likeness is between families, and no number of scenarios of one family buys it away. Scenarios without all seeds are
 * left out of families of several.
 *
 * @param rows by scenario, empty for one that is left out
 */
export function unitRows(units: Units, rows: readonly (readonly number[])[], seeds: number): number[][] {
  const groups = Array.from({ length: units.count }, (): (readonly number[])[] => [])
  units.of.forEach((unit, scenario) => {
    const row = rows[scenario]
    if (row !== undefined && row.length > 0) groups[unit]?.push(row)
  })
  return groups.flatMap((group): number[][] => {
    const [first] = group
    if (first === undefined) return []
    if (group.length === 1) return [[...first]]
    const complete = group.filter((row) => row.length === seeds)
    if (complete.length === 0) return []
    const mean = (seed: number): number => complete.reduce((sum, row) => sum + (row[seed] ?? 0), 0) / complete.length
    return [Array.from({ length: seeds }, (_, seed) => mean(seed))]
  })
}

export interface Purchase {
  readonly rows: readonly (readonly number[])[]
  readonly variance: Variance
  readonly units: Units
  /** All of them, of all units. */
  readonly scenarios: number
  readonly seeds: number
  readonly target: number | null
  readonly power: PowerTarget
  /** Mean cost of a cell, both arms together; null where unknown. */
  readonly pairUsd: number | null
}

/** What to buy to see the effect asked about: Var(Δ̄) = τ²/S + σ²/(S·K) says which of S and K is worth it. */
export function powerOf({
  rows,
  variance,
  units,
  scenarios,
  seeds,
  target,
  power,
  pairUsd,
}: Purchase): CandidateReport['power'] {
  const { tau2, sigma2 } = variance
  const known = tau2 !== null && sigma2 !== null
  const nothing = { target, unit: units.kind, requiredScenarios: null, requiredAtAnySeeds: null, requiredUsd: null }
  const means = rows.map((row) => row.reduce((sum, value) => sum + value, 0) / row.length)
  const spread = means.length < 2 ? null : moments(means)
  if (spread === null || spread.equal) {
    const refused = spread === null ? 'no_data' : 'zero_spread'
    return { ...nothing, seedsNarrowBy: null, advice: null, refused }
  }
  const narrow = known && tau2 + sigma2 > 0 ? seedsCanSave({ tau2, sigma2, seeds }) : null
  const unmeasured = known ? '' : 'seeds=1: flakiness unmeasured'
  const seedWords =
    narrow === null ? unmeasured : `more seeds narrow the interval by at most ${(narrow * 100).toFixed(0)} %`
  if (target === null) return { ...nothing, seedsNarrowBy: narrow, advice: seedWords, refused: 'not_applicable' }
  const needed = (t: number, s: number, k: number): number | null => {
    const variance = t + s / k
    if (variance <= 0) return FEWEST_UNITS
    const effect = target / Math.sqrt(variance)
    if (effect < SMALLEST_EFFECT) return null
    for (let few = FEWEST_UNITS; few < T_UNITS; few++) {
      const least = detectableEffect(few, power)
      if (least !== null && least <= effect) return few
    }
    return Math.max(T_UNITS, requiredScenarios({ delta: target, tau2: t, sigma2: s, seeds: k }, power))
  }
  const atThisK = known ? needed(tau2, sigma2, seeds) : needed(spread.sd ** 2, 0, 1)
  const atAnyK = known ? needed(tau2, 0, 1) : null
  const more = atThisK === null ? null : Math.max(0, atThisK - units.count) * (scenarios / units.count)
  return {
    target,
    unit: units.kind,
    requiredScenarios: atThisK,
    requiredAtAnySeeds: atAnyK,
    requiredUsd: more === null || pairUsd === null ? null : more * seeds * pairUsd,
    seedsNarrowBy: narrow,
    advice: adviceOf(units, atThisK, atAnyK, seedWords),
  }
}

function adviceOf(units: Units, atThisK: number | null, atAnyK: number | null, seedWords: string): string {
  const there = units.count
  const [one, many] = units.kind === 'family' ? ['family', 'families'] : ['scenario', 'scenarios']
  const tail = seedWords === '' ? '' : `; ${seedWords}`
  if (atThisK === null) return `the effect is too small for any affordable number of ${many}${tail}`
  if (atThisK <= there) return `enough ${many} for the effect asked about (${atThisK} needed)${tail}`
  const needs = `${plural(atThisK, one, many)} needed, ${there} there`
  if (atAnyK === null) return `buy ${many}: ${needs}${tail}`
  return atAnyK > there
    ? `buy ${many}: ${needs}; below ${atAnyK} no number of seeds is enough`
    : `buy seeds, or ${many} (${needs})${tail}`
}
