import type { CandidateReport } from '../../core/report/candidate-report.ts'
import type { CampaignReport, RefusalCode } from '../../core/report/report.ts'
import type { VariantSummary } from '../../core/report/variant-report.ts'
import { inline } from '../inline.ts'
import { dollars, interval, percent, plural, REFUSAL_WORDS, type Scale, TYPED, tokenPair } from '../numbers.ts'
import { measured, timeWords } from '../sentences.ts'
import type { Line, Span } from './line.ts'
import { type Column, table, tableWidth } from './table.ts'

interface Field {
  readonly title: string
  readonly noun: string
  readonly column: Column
  /** Text, or why there is none. */
  readonly of: (variant: VariantSummary) => string | { readonly refused: RefusalCode | undefined }
}

export interface VariantsTable {
  readonly head: Line
  readonly rows: readonly Line[]
  /** Sentences below the table: what is unknown and why, where numbers come from. */
  readonly notes: readonly string[]
}

/** One row per variant: mean with interval, pass rate, cost, latency, tokens. */
export function variantsTable(report: CampaignReport, scale: Scale, width: number, ellipsis: string): VariantsTable {
  const level = report.variants[0]?.mean.level ?? 0.95
  const walls = onWallClock(report)
  let fields: Field[] = [
    {
      title: `mean [${Math.round(level * 100)} % CI]`,
      noun: 'mean',
      column: { align: 'right' },
      of: ({ mean }) => {
        if (mean.est === null) return { refused: mean.refused }
        const range = interval(mean, scale.value)
        return `${scale.value(mean.est)} ${range === null ? '[unknown]' : `${range}${mean.descriptive ? '*' : ''}`}`
      },
    },
    {
      title: 'passed',
      noun: 'pass rate',
      column: { align: 'right' },
      of: ({ passRate }) => (passRate.est === null ? { refused: passRate.refused } : percent(passRate.est)),
    },
    {
      title: '$/cell',
      noun: 'cost',
      column: { align: 'right' },
      of: ({ cost }) => (cost.perCellUsd === null ? { refused: cost.refused } : dollars(cost.perCellUsd)),
    },
    {
      title: 'median/p95',
      noun: 'latency',
      column: { align: 'right' },
      of: ({ latency }) => {
        const { limitMs } = latency
        const { medianMs, p95Ms } = walls ? latency.wall : latency
        const median = timeWords(medianMs, limitMs)
        return median === null ? { refused: medianMs.refused } : `${median}/${timeWords(p95Ms, limitMs) ?? 'unknown'}`
      },
    },
    {
      title: 'tokens in/out',
      noun: 'tokens',
      column: { align: 'right' },
      of: ({ tokens }) => tokenPair(tokens, TYPED) ?? { refused: 'no_data' },
    },
    { title: 'cells', noun: 'cells', column: { align: 'right' }, of: measured },
  ]

  // A column that nobody has anything to say in is one note, not a column of "unknown".
  const absent = fields.filter(
    ({ noun, of }) => OPTIONAL.has(noun) && report.variants.every((variant) => typeof of(variant) !== 'string'),
  )
  if (report.variants.length > 0) fields = fields.filter((field) => !absent.includes(field))
  const unknowns = new Map<string, Map<string, string[]>>()
  const render = (): { columns: Column[]; rows: Span[][] } => {
    unknowns.clear()
    const rows: Span[][] = [
      [{ text: 'VARIANTS' }, ...fields.map(({ title }): Span => ({ text: title, tone: 'quiet' }))],
      ...report.variants.map((variant): Span[] => {
        const name = inline(variant.id)
        return [
          { text: `  ${name}` },
          ...fields.map(({ of, noun }): Span => {
            const value = of(variant)
            if (typeof value === 'string') return { text: value }
            if (value.refused === 'not_applicable') return { text: 'n/a' }
            note(unknowns, value.refused, noun, name)
            return { text: 'unknown' }
          }),
        ]
      }),
    ]
    return { columns: [{ align: 'left', least: 10 }, ...fields.map(({ column }) => column)], rows }
  }

  let built = render()
  // A number is never cut: where the line has no room the last columns go.
  while (fields.length > 1 && tableWidth(built.columns, built.rows) > width) {
    fields = fields.slice(0, -1)
    built = render()
  }
  for (const { mean, id } of report.variants) {
    if (mean.est !== null && mean.lo === null) note(unknowns, mean.refused, 'interval', inline(id))
  }
  const [head = [], ...rows] = table(built.columns, built.rows, width, ellipsis)
  const starred = built.rows.some((row) => row.some(({ text }) => text.endsWith('*')))
  return {
    head,
    rows,
    notes: [
      ...(starred || report.candidates.some(isStarred) ? ['* describes these scenarios, too few to decide on'] : []),
      ...sourceNotes(report),
      ...absentNotes(absent, report),
      ...unknownNotes(unknowns, report.variants.length),
    ],
  }
}

const OPTIONAL: ReadonlySet<string> = new Set(['pass rate', 'cost', 'latency', 'tokens'])

/** `not measured: cost (price not captured), latency and tokens (no data)`. */
function absentNotes(absent: readonly Field[], report: CampaignReport): string[] {
  const byReason = new Map<string, string[]>()
  for (const { noun, of } of absent) {
    const value = report.variants.map(of).find((one) => typeof one !== 'string')
    const refused = typeof value === 'object' ? value.refused : undefined
    if (refused === 'not_applicable') continue
    const reason = refused === undefined ? 'no reason given' : REFUSAL_WORDS[refused]
    byReason.set(reason, [...(byReason.get(reason) ?? []), noun])
  }
  if (byReason.size === 0) return []
  return [`not measured: ${Array.from(byReason, ([reason, nouns]) => `${nouns.join(', ')} (${reason})`).join('; ')}`]
}

function isStarred({ difference, atLeast }: CandidateReport): boolean {
  return [difference, atLeast?.mean].some(
    (one) => one != null && one.est !== null && one.lo !== null && one.descriptive,
  )
}

function note(
  unknowns: Map<string, Map<string, string[]>>,
  refused: RefusalCode | undefined,
  noun: string,
  variant: string,
): void {
  const reason = refused === undefined ? 'no reason given' : REFUSAL_WORDS[refused]
  const nouns = unknowns.get(reason) ?? new Map<string, string[]>()
  unknowns.set(reason, nouns)
  const variants = nouns.get(noun) ?? []
  nouns.set(noun, variants)
  variants.push(variant)
}

function unknownNotes(unknowns: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>, all: number): string[] {
  return Array.from(unknowns, ([reason, nouns]) => {
    const byVariants = new Map<string, string[]>()
    for (const [noun, of] of nouns) {
      const whose = of.length === all && all > 1 ? 'all' : of.join(', ')
      byVariants.set(whose, [...(byVariants.get(whose) ?? []), noun])
    }
    return `unknown (${reason}): ${Array.from(byVariants, ([whose, what]) => `${what.join(', ')} of ${whose}`).join('; ')}`
  })
}

/** No provider call was timed and every cell was live: then there is one clock, and it is the wall's. */
function onWallClock({ variants }: CampaignReport): boolean {
  return (
    variants.every(({ latency }) => latency.source === 'none') &&
    variants.some(({ latency }) => latency.wall.medianMs.refused !== 'replayed')
  )
}

function sourceNotes(report: CampaignReport): string[] {
  const notes: string[] = []
  // What accepted records once cost is no cost of this run.
  const bought = report.variants.filter(({ id }) => !report.design.accepted?.arms.some((arm) => arm.id === id))
  const costs = bought.map(({ cost }) => cost)
  const known = costs.reduce((sum, { knownUsd }) => sum + knownUsd, 0)
  const uncaptured = costs.reduce((sum, { uncapturedCells }) => sum + uncapturedCells, 0)
  const estimated = costs.some(({ provenance }) => provenance === 'estimated') ? ' (list prices)' : ''
  const ran = costs.filter(({ totalUsd, refused }) => totalUsd !== null || refused !== 'no_data' || uncaptured > 0)
  if (ran.length > 0 && ran.every(({ totalUsd }) => totalUsd !== null))
    notes.push(`cost in total ${dollars(known)}${estimated}`)
  else if (known > 0)
    notes.push(`cost in total at least ${dollars(known)}; ${plural(uncaptured, 'cell')} without a charge`)
  const sources = new Set(report.variants.map(({ latency }) => latency.source))
  sources.delete('none')
  const [source, ...others] = sources
  const from =
    others.length > 0 || source === 'mixed' ? ' partly as recorded' : source === 'recorded' ? ' as recorded' : ', live'
  if (source !== undefined) notes.push(`provider latency${from}`)
  else if (onWallClock(report)) notes.push('latency is by the wall clock: no provider call was timed')
  return notes.length === 0 ? [] : [notes.join('; ')]
}
