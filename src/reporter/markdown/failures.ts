import type { CampaignReport } from '../../core/report/report.ts'
import { grouped, plural } from '../numbers.ts'
import { block, code, EXAMPLE, text } from './text.ts'

/** Failures by class, with their messages. */
export function failures(report: CampaignReport, rows: number): string {
  if (report.failures.length === 0) return ''
  const shown = report.failures.slice(0, rows)
  return [
    ...shown.map(({ class: name, mode, count, messages, distinct, cells, variants: by }) => {
      const where =
        cells.length === 0
          ? ''
          : `, cells ${cells
              .slice(0, 5)
              .map((cell) => code(cell, 40))
              .join(', ')}`
      const whose = by.map(({ variant, count: own }) => `${code(variant, 40)} ${own}`).join(', ')
      const title = `**${plural(count, 'cell')}: ${text(name, 80)}**${mode === null ? '' : ` (${text(mode, 80)})`}${whose === '' ? '' : ` — ${whose}`}${where}`
      const unseen = distinct - messages.length
      return [
        title,
        ...messages.flatMap(({ text: said, count: own }) => [
          ...(distinct > 1 ? [`${grouped(String(own))} ×:`] : []),
          block(said, EXAMPLE),
        ]),
        ...(unseen > 0 ? [`and ${plural(unseen, 'other message')}.`] : []),
      ].join('\n\n')
    }),
    report.failures.length > shown.length
      ? `${report.failures.length - shown.length} more classes are in the JSON report.`
      : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
