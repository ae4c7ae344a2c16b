import type { RunRecord } from '../core/record/record.ts'
import { CELL_STATUSES } from '../core/record/status.ts'
import { inline } from './inline.ts'
import { digits, dollars, grouped, TYPED } from './numbers.ts'
import { plain, print, type Span } from './terminal/line.ts'
import { type Column, table } from './terminal/table.ts'

const COLUMNS: readonly Column[] = [
  { align: 'left', least: 10 },
  { align: 'right' },
  { align: 'right' },
  { align: 'right' },
  { align: 'left', least: 10 },
]

/** Cells per campaign and variant as they were recorded: no interval and no verdict, for a run without its plan. */
export function renderCells(
  records: Iterable<RunRecord>,
  options: { readonly width: number; readonly unicode: boolean },
): string {
  const campaigns = new Map<string, Map<string, RunRecord[]>>()
  for (const record of records) {
    const variants = campaigns.get(record.campaignId) ?? new Map<string, RunRecord[]>()
    campaigns.set(record.campaignId, variants)
    const cells = variants.get(record.variantId) ?? []
    variants.set(record.variantId, cells)
    cells.push(record)
  }
  const ellipsis = options.unicode ? '…' : '...'
  const sheet = { width: options.width, color: false, ellipsis }
  return Array.from(campaigns, ([campaign, variants]) => {
    const rows: Span[][] = [
      ['variant', 'cells', 'mean', 'known cost', 'status'].map((text): Span => ({ text })),
      ...Array.from(variants, ([variant, cells]) => row(variant, cells)),
    ]
    const title = plain(`NO VERDICT  ${inline(campaign)}: its cells as recorded, without the plan nothing is decided`)
    return [title, ...table(COLUMNS, rows, options.width, ellipsis)].map((line) => print(line, sheet)).join('\n')
  }).join('\n\n')
}

function row(variant: string, cells: readonly RunRecord[]): Span[] {
  const scores = cells.flatMap(({ score }) => (score === null ? [] : [score]))
  const costs = cells.flatMap(({ cost }) => (cost.usd === null ? [] : [cost.usd]))
  const statuses = CELL_STATUSES.map((status) => ({
    status,
    count: cells.filter((cell) => cell.status === status).length,
  }))
  return [
    { text: inline(variant) },
    { text: grouped(String(cells.length)) },
    { text: scores.length === 0 ? 'unknown' : digits(sum(scores) / scores.length, TYPED) },
    { text: costs.length === 0 ? 'unknown' : `${costs.length < cells.length ? '>= ' : ''}${dollars(sum(costs))}` },
    {
      text: statuses
        .filter(({ count }) => count > 0)
        .map(({ status, count }) => `${grouped(String(count))} ${status}`)
        .join(', '),
    },
  ]
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
