import type { CampaignReport } from '../../core/report/report.ts'
import type { Scale } from '../numbers.ts'
import { bySeverity, testWords } from '../sentences.ts'
import { code, text } from './text.ts'

/** The tests beside t and sign-flip, for the candidates that have them. */
export function tests(report: CampaignReport, scale: Scale): string {
  return bySeverity(report.candidates)
    .flatMap((candidate) => testWords(candidate, scale).map((said) => `- ${code(candidate.id)}: ${text(said)}.`))
    .join('\n')
}
