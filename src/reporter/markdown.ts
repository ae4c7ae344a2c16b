import type { CampaignReport } from '../core/report/report.ts'
import { sectionsOf } from './markdown/sections.ts'
import { code } from './markdown/text.ts'

/** Rows of a list before the rest is counted. */
const LONGEST = 50

/** The report as a Markdown document, for `reports/<campaign>.md`: verdict first, then what it rests on. */
export function renderMarkdown(report: CampaignReport): string {
  const parts = sectionsOf(report, { rows: LONGEST }).map(({ title, of, body }) =>
    title === '' ? body : `#### ${title}${of === undefined ? '' : ` of ${code(of)}`}\n\n${body}`,
  )
  return `${parts.join('\n\n')}\n`
}
