import { plural } from './numbers.ts'
import type { AcceptedReport, Mismatch, MismatchCode } from './report.ts'

const WORDS: { readonly [code in MismatchCode]: string } = {
  no_row: 'not among the accepted rows',
  scenario_changed: 'of a scenario that has changed since',
  scorer_changed: 'scored by other scorers then',
  judge_changed: 'judged by another model then',
}

/** `6 cells of a scenario that has changed since (refund)`. */
export function mismatchWords(mismatches: readonly Mismatch[]): string {
  if (mismatches.length === 0) return 'they hold no score'
  return mismatches.map(({ code, count, example }) => `${plural(count, 'cell')} ${WORDS[code]} (${example})`).join(', ')
}

/** What of the accepted records does not match the run, arm by arm. */
export function acceptedWarnings({
  arms,
  without,
}: AcceptedReport): { readonly code: string; readonly text: string }[] {
  return [
    ...arms.flatMap(({ id, mismatches }) =>
      mismatches.length === 0 ? [] : [{ code: 'accepted_mismatch', text: `${id}: ${mismatchWords(mismatches)}` }],
    ),
    ...arms.flatMap(({ id, models }) =>
      models.map(({ requested, accepted, now }) => ({
        code: 'accepted_model_differs',
        text: `${id}: ${requested} was answered by ${accepted.join(', ')} then and by ${now.join(', ')} now; a difference may be the provider's`,
      })),
    ),
    ...without.map((id) => ({
      code: 'not_accepted',
      text: `${id} has no accepted record: it is compared with nothing`,
    })),
  ]
}
