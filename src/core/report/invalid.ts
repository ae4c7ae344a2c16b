import type { CampaignPlan } from '../campaign/plan.ts'
import { mismatchWords } from './accepted-words.ts'
import type { Arm } from './arm.ts'
import type { Cells } from './cells.ts'
import { plural } from './numbers.ts'
import { differingJudges } from './observations.ts'
import type { AcceptedReport, Reason } from './report.ts'
import { splitLeaks } from './splits.ts'

/** Problems found outside the records after which no number is a verdict. */
const INVALIDATING: ReadonlySet<string> = new Set([
  'duplicate_cell',
  'campaign_twice',
  'interrupted',
  'manifest_mismatch',
  'labels_invalid',
])

/** Null: it has no bounded scale. */
export function primaryScale(plan: CampaignPlan): readonly [number, number] | null {
  return plan.scorers.find((scorer) => scorer.name === plan.primary)?.scale ?? null
}

/** Why no number of the campaign is a verdict. */
export function invalidReasons(
  plan: CampaignPlan,
  cells: Cells,
  arms: readonly Arm[],
  problems: readonly Reason[],
): Reason[] {
  const interrupted = problems.some(({ code }) => code === 'interrupted')
  const empty = (interrupted ? [] : arms).filter((arm) => arm.counts.scored === 0)
  return [
    ...problems.filter(({ code }) => INVALIDATING.has(code)),
    ...cells.problems,
    ...splitLeaks(cells),
    ...(primaryScale(plan) === null
      ? [{ code: 'unbounded_primary', text: `the primary scorer ${plan.primary} has no bounded scale` }]
      : []),
    ...differingJudges(cells).map((text) => ({ code: 'judge_differs', text })),
    ...empty.map((arm) => ({ code: 'no_scored_cell', text: unscoredText(arm, cells.variants[arm.variant]?.id ?? '') })),
  ]
}

/**
 * An arm that no scorer ever saw an output of: a broken set-up looks the same as a subject that always fails, so no
 * verdict about it is one, whether its cells are missing or count as the subject's own failures.
 */
function unscoredText({ counts, planned }: Arm, id: string): string {
  if (counts.task_fail === 0) return `${id} has not one scored cell of ${planned}: nothing was measured`
  const failed =
    counts.task_fail === planned
      ? `all ${plural(planned, 'cell')}`
      : `${counts.task_fail} of ${plural(planned, 'cell')}`
  return `${id} has not one scored cell: the subject itself failed in ${failed}, before any score; a broken set-up looks the same`
}

/** Accepted arms that pair with nothing: a comparison with them would be one with the whole scale. */
export function unpairedReasons({ arms }: AcceptedReport, measured: readonly Arm[]): Reason[] {
  return arms.flatMap(({ variant, mismatches }, at) =>
    (measured[at]?.measured ?? 0) > 0
      ? []
      : [
          {
            code: 'accepted_unpaired',
            text: `no accepted record of ${variant} can be compared with this run: ${mismatchWords(mismatches)}`,
          },
        ],
  )
}

/** What an interrupted run has to say instead of numbers: null for one that was not, or is invalid for another reason. */
export function interruptedText(cells: Cells, arms: readonly Arm[], invalid: readonly Reason[]): string | null {
  if (!invalid.some(({ code }) => code === 'interrupted')) return null
  const done = arms.reduce((sum, { measured }) => sum + measured, 0)
  return `the run was interrupted: ${done} of ${plural(cells.records.length, 'cell')} have a result; run it again`
}
