import type { CampaignReport } from '../../core/report/report.ts'
import { budgetSentence } from '../budget.ts'
import { grouped, percent } from '../numbers.ts'
import { counts, measured, missing, missingWords } from '../sentences.ts'
import { code, text } from './text.ts'

/** Planned cells, and what became of those that are missing. */
export function coverage(report: CampaignReport): string {
  const { planned, counts: all, reasons } = report.coverage
  const gone = missing(all)
  const lines = [`- ${grouped(String(planned))} cells planned: ${counts(all)}`]
  if (gone > 0) lines.push(`- missing ${grouped(String(gone))}: ${text(missingWords(all, reasons))}`)
  for (const variant of report.variants) {
    if (variant.coverage < 1) lines.push(`- ${code(variant.id)}: ${measured(variant)} (${counts(variant.counts)})`)
  }
  lines.push(`- floor: ${percent(report.design.coverageFloor)} of the cells of an arm`)
  const money = budgetSentence(report)
  if (money !== null) lines.push(`- budget: ${text(money)}`)
  return lines.join('\n')
}
