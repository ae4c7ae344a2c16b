import type { CampaignReport, SliceReport } from '../../core/report/report.ts'
import { interval, pValue, type Scale, unknown } from '../numbers.ts'
import { code, grid, text } from './text.ts'

const LONGEST = 20

/** Kinds of scenarios, the surest moves first. Exploratory, and said so. */
export function slices(report: CampaignReport, scale: Scale, most: number): string {
  if (report.slices.length === 0) return ''
  const rows = report.slices.toSorted((a, b) => (a.q ?? 2) - (b.q ?? 2)).slice(0, Math.min(most, LONGEST))
  const left = report.slices.length - rows.length
  return [
    'Exploratory: where the candidates moved, picked after the fact. No verdict reads it.',
    grid(
      [
        ['slice', 'left'],
        ['candidate', 'left'],
        ['scenarios', 'right'],
        [`difference${scale.unit === 'pp' ? ', pp' : ''} (interval)`, 'right'],
        ['q', 'right'],
      ],
      rows.map((row) => [
        `${text(row.by)} ${code(row.value, 60)}`,
        code(row.candidate),
        String(row.scenarios),
        moved(row, scale),
        row.q === null ? 'n/a' : pValue(row.q),
      ]),
    ),
    left > 0 ? `${left} more are in the JSON report.` : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function moved({ difference }: SliceReport, scale: Scale): string {
  if (difference.est === null) return unknown(difference.refused)
  return `${scale.difference(difference.est)} ${interval(difference, scale.difference) ?? ''}`.trim()
}
