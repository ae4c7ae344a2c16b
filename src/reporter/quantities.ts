import type { CandidateReport } from '../core/report/candidate-report.ts'
import type { Estimate } from '../core/report/report.ts'
import type { VariantSummary } from '../core/report/variant-report.ts'
import { dollars, interval, plural, pValue, type Scale, unknown } from './numbers.ts'
import { timeWords } from './sentences.ts'

/** The estimate with its interval, or why there is none. */
export function estimated(estimate: Estimate, write: (value: number) => string): string {
  const known = interval(estimate, write)
  if (estimate.est === null) return known === null ? unknown(estimate.refused) : `${unknown(estimate.refused)} ${known}`
  const range = known ?? `interval ${unknown(estimate.refused)}`
  return `${write(estimate.est)} ${range}${estimate.descriptive ? ', descriptive' : ''}`
}

/** A mean beside the level it must reach. */
export function threshold({ atLeast }: CandidateReport, scale: Scale): string {
  return atLeast === null ? 'n/a' : `${estimated(atLeast.mean, scale.value)}, ≥ ${scale.value(atLeast.threshold)}`
}

/** The p of the deciding test, raw and adjusted. */
export function probability({ signFlip, adjusted }: CandidateReport): string {
  if (signFlip === null) return 'n/a'
  if (signFlip.p === null) return unknown(signFlip.refused)
  return adjusted.method === 'none' || adjusted.p === null
    ? pValue(signFlip.p)
    : `${pValue(signFlip.p)}, ${adjusted.method} ${pValue(adjusted.p)}`
}

export function refusal(refused: Estimate['refused']): string {
  return refused === 'not_applicable' ? 'n/a' : unknown(refused)
}

/** An amount of money of a variant, or why nobody knows. */
export function money(usd: number | null, { cost, passRate }: VariantSummary): string {
  if (usd !== null) return `${dollars(usd)}${cost.provenance === 'estimated' ? ' (list price)' : ''}`
  // Without another reason a missing cost per success has no success to stand over.
  return refusal(cost.refused ?? (passRate.est === 0 ? 'no_successes' : passRate.refused))
}

/** All that a variant cost; what is known of it where some cell has no price. */
export function total({ cost }: VariantSummary): string {
  if (cost.totalUsd !== null) return dollars(cost.totalUsd)
  const known = cost.knownUsd > 0 ? `≥ ${dollars(cost.knownUsd)}, ` : ''
  return `${known}${refusal(cost.refused)}, ${plural(cost.uncapturedCells, 'cell')}`
}

/** A time of the provider clock, with where it was measured. */
export function latency({ latency: { source, limitMs } }: VariantSummary, estimate: Estimate): string {
  const time = timeWords(estimate, limitMs)
  if (time === null) return refusal(estimate.refused)
  return `${time}${source === 'recorded' || source === 'mixed' ? ` (${source})` : ''}`
}

/** Median and 95th percentile by the wall clock. */
export function wallClock({ latency: { wall, limitMs } }: VariantSummary): string {
  return [wall.medianMs, wall.p95Ms]
    .map((estimate) => timeWords(estimate, limitMs) ?? refusal(estimate.refused))
    .join(' / ')
}
