import type { CampaignReport } from '../../core/report/report.ts'
import { inline } from '../inline.ts'
import { TYPED } from '../numbers.ts'
import { bySeverity, clockWord, guardrailWords } from '../sentences.ts'
import { type Section, section } from './page.ts'
import type { Sheet } from './sheet.ts'
import { type Column, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { align: 'left', least: 12 },
  { align: 'right', least: 7 },
  { align: 'right', least: 7 },
  { align: 'right' },
  { align: 'left', least: 16 },
]

const GRAVITY = ['violated', 'unproven', 'ok']

/** Every limit beside the primary score: what was measured, the limit, and what is shown. Broken ones first. */
export function guardrails(report: CampaignReport, sheet: Sheet): Section {
  const several = report.candidates.length > 1
  const rails = bySeverity(report.candidates)
    .flatMap(({ id, guardrails: own }) => own.map((rail) => ({ id, rail })))
    .toSorted((a, b) => GRAVITY.indexOf(a.rail.outcome) - GRAVITY.indexOf(b.rail.outcome))
  if (rails.length === 0) return section({})
  const { comparator } = report.design
  const quiet = (text: string) => ({ text, tone: 'quiet' as const })
  const [head = [], ...lines] = table(
    COLUMNS,
    [
      [
        { text: 'GUARDRAILS' },
        quiet(comparator === null ? '' : inline(comparator)),
        quiet(several ? 'candidate' : inline(report.candidates[0]?.id ?? '')),
        quiet('limit'),
        quiet('shown'),
      ],
      ...rails.map(({ id, rail }) => {
        const words = guardrailWords(rail, TYPED)
        const tone = rail.outcome === 'violated' ? 'bad' : rail.outcome === 'ok' ? 'good' : 'warn'
        return [
          { text: `  ${inline(rail.name)}${clockWord(rail)}${several ? ` (${inline(id, 20)})` : ''}` },
          { text: words.comparator },
          { text: words.candidate },
          { text: words.limit },
          { text: words.status, tone } as const,
        ]
      }),
    ],
    sheet.width,
    sheet.ellipsis,
  )
  return section({
    head: [head],
    groups: lines.map((line) => [line]),
    fair: 4,
    least: 1,
    noun: ['guardrail', 'guardrails'],
    spaced: true,
  })
}
