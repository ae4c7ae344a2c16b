import type { Judged } from './candidate.ts'
import type { Cells } from './cells.ts'
import { isFreeWithTokens } from './cost.ts'
import { percent } from './numbers.ts'
import { seedsIdentical } from './observations.ts'
import type { CampaignReport, Reason, VariantSummary } from './report.ts'

interface Observed {
  readonly cells: Cells
  readonly variants: readonly VariantSummary[]
  readonly integrity: CampaignReport['integrity']
  readonly judged: readonly Judged[]
  readonly coverageFloor: number
  readonly problems: readonly Reason[]
}

/** What a reader of the numbers must know and no verdict says. */
export function warningsOf({ cells, variants, integrity, judged, coverageFloor, problems }: Observed): Reason[] {
  const warnings: Reason[] = [...problems]
  const warn = (code: string, text: string): void => {
    warnings.push({ code, text })
  }
  const captureErrors = variants.reduce((sum, { counts }) => sum + counts.capture_error, 0)
  if (captureErrors > 0)
    warn('capture_error', `${captureErrors} cells failed an integrity check: they count as missing`)
  if (integrity.backend === 'stub')
    warn('stub_backend', 'every answer came from a stub: nothing about a model was measured')
  if (integrity.backend === 'mixed') warn('mixed_backend', 'some answers came from a stub, others from a provider')
  for (const { id, coverage } of variants) {
    if (coverage < coverageFloor)
      warn('coverage', `${id}: ${percent(coverage)} of the planned cells measured, ${percent(coverageFloor)} required`)
  }
  const comparator = variants.find(({ role }) => role === 'comparator')
  for (const variant of variants) {
    if (comparator === undefined || variant === comparator) continue
    const gone = ({ planned, counts }: VariantSummary): number => planned - counts.scored - counts.task_fail
    const [more, less] = [Math.max(gone(variant), gone(comparator)), Math.min(gone(variant), gone(comparator))]
    if (more >= less + 3 && more > 2 * less) {
      warn(
        'missing_differs',
        `missing cells differ between the arms: ${variant.id} ${gone(variant)}, ${comparator.id} ${gone(comparator)}`,
      )
    }
  }
  if (seedsIdentical(cells)) {
    warn('seeds_identical', `seeds add nothing: all ${cells.seeds.length} seeds gave byte-identical outputs everywhere`)
  }
  const free = cells.records.filter((record) => record !== undefined && isFreeWithTokens(record)).length
  if (free > 0)
    warn('zero_cost_with_tokens', `${free} cells report tokens and a charge of 0: their price is unknown, not free`)
  for (const one of judged) {
    if (one.unmeasuredMustPass.length > 0) {
      const [first = ''] = one.unmeasuredMustPass
      warn(
        'must_pass_unmeasured',
        `${one.report.id}: ${one.unmeasuredMustPass.length} must-pass scenarios are not fully measured (first: ${first})`,
      )
    }
    if (one.testsDisagree) {
      warn(
        'tests_disagree',
        `${one.report.id}: the t interval and the sign-flip test do not agree; the differences are far from symmetric`,
      )
    }
  }
  if (judged.length > 1 && judged.some(({ report }) => report.outcome === 'ship')) {
    warn('winner_optimistic', 'the best of several candidates looks better than it is: confirm it on fresh scenarios')
  }
  return warnings
}
