import type { CampaignReport } from '../../core/report/report.ts'
import { correctedSentences, judgeSentences } from '../judges.ts'
import type { Scale } from '../numbers.ts'
import { text } from './text.ts'

/** Agreement of judges with each other and with people, and the rates corrected by what people said. */
export function judges(report: CampaignReport, scale: Scale): string {
  const lines = report.judges.flatMap((judge) =>
    [...judgeSentences(judge), ...correctedSentences(judge, scale)].map((said) => `- ${text(said)}`),
  )
  return lines.join('\n')
}
