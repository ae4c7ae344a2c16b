import type { CampaignReport } from '../../core/report/report.ts'
import { grouped } from '../numbers.ts'
import { code, EXAMPLE, text } from './text.ts'

/** What the checks of the cells found. */
export function integrity(report: CampaignReport, rows: number): string {
  const { backend, issues } = report.integrity
  const lines = issues
    .slice(0, rows)
    .map(
      ({ code: name, severity, count, example }) =>
        `- **${severity}** ${code(name, 80)} × ${grouped(String(count))}: ${text(example, EXAMPLE)}`,
    )
  return [`- backend: ${backend}`, ...lines].join('\n')
}
