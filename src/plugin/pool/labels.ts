import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { segmentOf } from '../../core/campaign/segment.ts'
import { type HumanLabel, parseLabels } from '../../core/report/judges/label.ts'
import type { Reason } from '../../core/report/report.ts'

/** Folder, beside an eval file, of what people say about outputs. */
export const LABELS = '__labels__'

/** `evals/__labels__/triage.jsonl`, relative to the project's root. */
export function labelsPath({ file, campaignId }: Pick<CampaignPlan, 'file' | 'campaignId'>): string {
  return join(dirname(file), LABELS, `${segmentOf(campaignId)}.jsonl`)
}

export interface ReadLabels {
  readonly labels: readonly HumanLabel[]
  /** Why the file says nothing: a judge it would condemn must not ship because of a slip in it. */
  readonly problems: readonly Reason[]
}

/** The labels of a campaign; none where there is no file. No symbolic link is followed. */
export function readLabels(root: string, plan: Pick<CampaignPlan, 'file' | 'campaignId'>): ReadLabels {
  const path = labelsPath(plan)
  try {
    const file = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      return { labels: parseLabels(readFileSync(file, 'utf8'), path.replaceAll('\\', '/')), problems: [] }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { labels: [], problems: [] }
    const text = error instanceof Error ? error.message : String(error)
    return { labels: [], problems: [{ code: 'labels_invalid', text: `the labels cannot be used: ${text}` }] }
  }
}
