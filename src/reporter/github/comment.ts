import { markerOf, renderSummary, type Summarized } from './summary.ts'

/** GitHub refuses a longer comment: 65,536 characters, of which it allows four bytes each. */
const LIMIT = 65_536

/**
 * A run as one comment on a pull request, headed by the marker that makes the next run edit it. Notes are left to whoever
 * looks at the run itself, unless there is nothing else to say.
 */
export function renderComment(run: Summarized): string {
  const marker = `${markerOf(run.project)}\n\n`
  const notes = run.campaigns.length + run.problems.length === 0 ? run.notes : []
  return marker + renderSummary({ ...run, notes }, { limit: LIMIT - length(marker), measure: length })
}

/** Characters as GitHub counts them: code points, never more than these. */
function length(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
