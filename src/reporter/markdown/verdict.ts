import type { CampaignReport } from '../../core/report/report.ts'
import { designWords, furtherReasons, stale } from '../sentences.ts'
import { code, text } from './text.ts'

/** The sentence that a reader must see first, what was decided by, and what else is to be said. */
export function verdict(report: CampaignReport, rows: number, sign = ''): string {
  const { word, headline, gate, rule, exitCode } = report.verdict
  const dated = stale(report.evidence)
  const judged =
    gate === 'none'
      ? 'no gate'
      : `${gate} gate${rule === null ? '' : `, rule ${text(rule, 20)}`}, \`vitest-campaign gate\` exits ${exitCode}`
  const where = code(report.line === null ? report.file : `${report.file}:${report.line}`, 300)
  return [
    `### ${sign}${word}: ${text(headline)}`,
    `${dated === null ? '' : `**${text(dated)}.** `}${code(report.campaignId)}, ${judged}, ${where}. ${text(designWords(report))}.`,
    furtherReasons(report)
      .slice(0, rows)
      .map((reason) => `- ${text(reason)}`)
      .join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** What to do next. */
export function actions(report: CampaignReport): string {
  return report.actions.map((action) => `1. ${text(action.text)}`).join('\n')
}
