import { fisherExact } from '../stats/fisher.ts'
import { acceptedWarnings } from './accepted-words.ts'
import type { Judged } from './candidate.ts'
import type { Cells } from './cells.ts'
import { isFreeWithTokens } from './cost.ts'
import { percent, plural } from './numbers.ts'
import { seedsIdentical } from './observations.ts'
import type { AcceptedReport, CampaignReport, Reason } from './report.ts'
import type { VariantSummary } from './variant-report.ts'

interface Observed {
  readonly cells: Cells
  readonly variants: readonly VariantSummary[]
  readonly accepted: AcceptedReport | null
  readonly integrity: CampaignReport['integrity']
  readonly judged: readonly Judged[]
  readonly coverageFloor: number
  readonly problems: readonly Reason[]
  readonly judges: CampaignReport['judges']
  readonly exploratory: readonly Reason[]
  readonly looks: CampaignReport['looks']
}

/** What a reader of the numbers must know and no verdict says. */
export function warningsOf({
  cells,
  variants,
  accepted,
  integrity,
  judged,
  coverageFloor,
  problems,
  judges,
  exploratory,
  looks,
}: Observed): Reason[] {
  const warnings: Reason[] = [...problems, ...exploratory]
  // An interruption is why cells are missing: what follows from that is no news.
  const interrupted = problems.some(({ code }) => code === 'interrupted')
  const warn = (code: string, text: string): void => {
    warnings.push({ code, text })
  }
  const captureErrors = variants.reduce((sum, { counts }) => sum + counts.capture_error, 0)
  if (captureErrors > 0)
    warn(
      'capture_error',
      `${plural(captureErrors, 'cell')} failed an integrity check and ${captureErrors === 1 ? 'counts' : 'count'} as missing`,
    )
  if (integrity.backend === 'stub')
    warn('stub_backend', 'every answer came from a stub: nothing about a model was measured')
  if (integrity.backend === 'mixed') warn('mixed_backend', 'some answers came from a stub, others from a provider')
  for (const { id, coverage } of variants) {
    const old = accepted?.arms.some((arm) => arm.id === id) ?? false
    if (coverage < coverageFloor && !interrupted && !old)
      warn('coverage', `${id}: ${percent(coverage)} of the planned cells measured, ${percent(coverageFloor)} required`)
  }
  if (accepted !== null) warnings.push(...acceptedWarnings(accepted))
  // What accepted rows lack was lost to changes, which are named, and not to faults.
  const comparator = accepted !== null ? undefined : variants.find(({ role }) => role === 'comparator')
  for (const variant of variants) {
    if (comparator === undefined || variant === comparator || interrupted) continue
    const gone = ({ planned, counts }: VariantSummary): number => planned - counts.scored - counts.task_fail
    const [more, less] = [Math.max(gone(variant), gone(comparator)), Math.min(gone(variant), gone(comparator))]
    const p = fisherExact([
      [gone(variant), variant.planned - gone(variant)],
      [gone(comparator), comparator.planned - gone(comparator)],
    ])
    // More than twice as many is worth a word before any test shows it, but not one cell against none.
    if (p < 0.05 || (more >= less + 3 && more > 2 * less)) {
      const exact = p < 0.0001 ? 'p < 0.0001' : `p ${p.toPrecision(2)}`
      warn(
        'missing_differs',
        `missing cells differ between the arms: ${variant.id} ${gone(variant)} of ${variant.planned}, ${comparator.id} ${gone(comparator)} of ${comparator.planned} (Fisher ${exact}); what is missing may not be like what is there`,
      )
    }
  }
  for (const { id, overfitGap } of variants) {
    if (overfitGap?.lo != null && overfitGap.lo > 0)
      warn('overfit', `${id} does better on the scenarios it was tuned on than on the holdout`)
  }
  if (looks.allowed > 1 && !looks.exhausted)
    warn(
      'alpha_spent',
      `look ${looks.used} of ${looks.allowed} at these scenarios: each has 1/${looks.allowed} of the error rate`,
    )
  for (const { scorer, agreement, human } of judges) {
    for (const [found, whom] of [
      [agreement, 'the other judges'],
      [human?.agreement ?? null, 'people'],
    ] as const) {
      if (found?.reading === 'tentative')
        warn('judge_tentative', `the judge ${scorer} agrees with ${whom} enough for tentative conclusions only`)
      if (found?.reading === 'unreliable')
        warn('judge_unreliable', `the judge ${scorer} agrees too little with ${whom} to carry a ship verdict`)
    }
  }
  const byDigest = new Map<string, string>()
  for (const { id, digest } of cells.variants) {
    const twin = byDigest.get(digest)
    if (twin !== undefined)
      warn('same_variant', `${twin} and ${id} have the same contents: one thing is measured twice`)
    else byDigest.set(digest, id)
  }
  if (seedsIdentical(cells)) {
    warn('seeds_identical', `seeds add nothing: all ${cells.seeds.length} seeds gave byte-identical outputs everywhere`)
  }
  const free = cells.records.filter((record) => record !== undefined && isFreeWithTokens(record)).length
  if (free > 0)
    warn(
      'zero_cost_with_tokens',
      `${plural(free, 'cell reports', 'cells report')} tokens and a charge of 0: the price is unknown, not free`,
    )
  for (const one of judged) {
    if (one.unmeasuredMustPass.length > 0) {
      const [first = ''] = one.unmeasuredMustPass
      warn(
        'must_pass_unmeasured',
        one.unmeasuredMustPass.length === 1
          ? `${one.report.id}: must-pass scenario ${first} is not fully measured`
          : `${one.report.id}: ${one.unmeasuredMustPass.length} must-pass scenarios are not fully measured (first: ${first})`,
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
