import type { CampaignPlan } from '../campaign/plan.ts'
import type { Cells } from './cells.ts'
import type { AcceptedReport, CampaignReport, Preregistration, Reason } from './report.ts'

const ORDER_WORDS: { readonly [order in Preregistration['order']]: string } = {
  before: 'it was committed in time',
  after: 'it was committed after the first measurement, or after a look at the same answers',
  uncommitted: 'its file is not committed as it is',
  unknown: 'without a whole git history nobody knows what came first',
}

/** Why nothing that this report finds good is confirmed; shown harm needs no confirmation. */
export function exploratoryReasons(
  gate: CampaignPlan['gate'],
  cells: Cells,
  looks: CampaignReport['looks'],
  prereg: CampaignReport['prereg'],
  accepted: AcceptedReport | null,
): Reason[] {
  const reasons: Reason[] = []
  if (cells.scenarios.some(({ split }) => split !== 'holdout'))
    reasons.push({
      code: 'no_holdout',
      text: 'no scenario is of the holdout split: all of them may have been tuned on',
    })
  if (looks.exhausted) {
    const text = `holdout worn: look ${looks.used} of ${looks.allowed} at these scenarios`
    reasons.push({ code: 'looks_exhausted', text })
  }
  if (gate?.kind === 'release' && prereg !== null) {
    const fields = prereg.deviations.map(({ field }) => field)
    if (fields.length > 0) {
      reasons.push({ code: 'prereg_deviates', text: `the run deviates from its preregistration: ${fields.join(', ')}` })
    } else if (!prereg.verified) {
      reasons.push({
        code: 'prereg_unverified',
        text: `the preregistration could not be verified: ${ORDER_WORDS[prereg.order]}`,
      })
    }
  }
  if (gate?.kind === 'release' && accepted?.arms.some(({ models }) => models.length > 0) === true) {
    const text = 'a model was answered by another snapshot when the accepted records were measured: accept a fresh run'
    reasons.push({ code: 'accepted_model_differs', text })
  }
  return reasons
}
