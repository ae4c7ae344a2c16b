import type { RunRecord } from '../record/record.ts'
import { type CostProvenance, toMicroUsd, toUsd } from '../record/usage.ts'
import type { VariantSummary } from './variant-report.ts'

/** A charge of 0 that the provider is said to have stated, for tokens it did count: an unpriced model, not a gift. */
export function isFreeWithTokens(record: RunRecord): boolean {
  const used = (record.tokens.input ?? 0) + (record.tokens.output ?? 0)
  return record.cost.usd === 0 && record.cost.provenance === 'observed' && used > 0
}

/**
 * Money of one variant over all its cells, failed ones included: a success costs what the failures around it cost too.
 * Summed in whole micro-USD. A single charge nobody knows makes the total unknown; what is known stays a lower bound.
 *
 * @param planned cells of the variant, for the mean
 */
export function costOf(records: readonly RunRecord[], planned: number, passes: number | null): VariantSummary['cost'] {
  let micro = 0
  let uncapturedCells = 0
  let estimated = false
  for (const record of records) {
    if (record.attempts === 0 && record.cost.usd === null) continue // never ran, so there is no charge to know
    if (record.cost.usd === null || record.cost.provenance === 'uncaptured' || isFreeWithTokens(record))
      uncapturedCells++
    if (record.cost.provenance === 'estimated') estimated = true
    if (record.cost.usd !== null) micro += toMicroUsd(record.cost.usd)
  }
  const provenance: CostProvenance = uncapturedCells > 0 ? 'uncaptured' : estimated ? 'estimated' : 'observed'
  const knownUsd = toUsd(micro)
  const nothing = { totalUsd: null, perCellUsd: null, perSuccessUsd: null, knownUsd, uncapturedCells, provenance }
  if (uncapturedCells > 0) return { ...nothing, refused: 'uncaptured' }
  const ran = records.filter((record) => record.attempts > 0).length
  if (ran === 0 && micro === 0) return { ...nothing, refused: 'no_data' }
  const cost = { ...nothing, totalUsd: knownUsd, perCellUsd: toUsd(micro) / Math.max(1, Math.min(planned, ran)) }
  if (passes === null) return { ...cost, refused: 'not_applicable' }
  if (passes === 0) return { ...cost, refused: 'no_successes' }
  return { ...cost, perSuccessUsd: knownUsd / passes }
}
