import { CELL_STATUSES, type CellStatus } from '../core/record/status.ts'
import type { CampaignReport, CandidateReport, Outcome, StatusCounts, VariantSummary } from '../core/report/report.ts'
import { inline } from './inline.ts'
import { grouped, plural, REFUSAL_WORDS, type Scale } from './numbers.ts'

/** Worst first: what a reader must see before anything else. */
const SEVERITY: readonly Outcome[] = ['invalid', 'regress', 'inconclusive', 'underpowered', 'hold', 'ship']
export const severity = (outcome: Outcome): number => SEVERITY.indexOf(outcome)

export function bySeverity(candidates: readonly CandidateReport[]): CandidateReport[] {
  return candidates.toSorted((a, b) => severity(a.outcome) - severity(b.outcome))
}

/** `replayed, recorded 2026-11-02` where not every cell was measured now; null where all are fresh. */
export function stale(evidence: CampaignReport['evidence']): string | null {
  const { live, replayed, mixed, carried } = evidence
  const parts: string[] = []
  const total = live + replayed + mixed + carried
  const part = (count: number, word: string): void => {
    if (count > 0) parts.push(count === total ? word : `${grouped(String(count))} of ${grouped(String(total))} ${word}`)
  }
  part(replayed, 'replayed')
  part(mixed, 'partly replayed')
  part(carried, 'carried over')
  if (parts.length === 0) return null
  const from = evidence.recordedFrom === null ? null : day(evidence.recordedFrom)
  const to = evidence.recordedTo === null ? null : day(evidence.recordedTo)
  if (from === null && to === null) return `${parts.join(', ')}, recording date unknown`
  const dates = from === null || to === null || from === to ? (from ?? to) : `${from} to ${to}`
  return `${parts.join(', ')}, recorded ${dates}`
}

function day(instant: string): string {
  return inline(instant, 40).slice(0, 10)
}

export function counts(all: StatusCounts): string {
  return listed(all, CELL_STATUSES)
}

/** Cells without a measurement: everything but `scored` and `task_fail`. */
const MISSING: readonly CellStatus[] = CELL_STATUSES.filter((status) => status !== 'scored' && status !== 'task_fail')

export function missing(all: StatusCounts): number {
  return MISSING.reduce((sum, status) => sum + all[status], 0)
}

/** What the missing cells lack, by reason; a status that is its own reason stands for itself. */
export function missingWords(all: StatusCounts, reasons: CampaignReport['coverage']['reasons']): string {
  const named = Object.entries(reasons).filter(([, count]) => count > 0)
  const explained = named.reduce((sum, [, count]) => sum + count, 0)
  const own = (['capture_error', 'judge_error'] as const).filter((status) => all[status] > 0)
  const rest = missing(all) - explained - own.reduce((sum, status) => sum + all[status], 0)
  return [
    ...named.map(([reason, count]) => `${grouped(String(count))} ${inline(reason, 60)}`),
    ...own.map((status) => `${grouped(String(all[status]))} ${status}`),
    ...(rest > 0 ? [`${grouped(String(rest))} without a reason`] : []),
  ].join(', ')
}

function listed(all: StatusCounts, statuses: readonly CellStatus[]): string {
  return statuses
    .filter((status) => status === 'scored' || all[status] > 0)
    .map((status) => `${grouped(String(all[status]))} ${status}`)
    .join(', ')
}

export function measured(variant: VariantSummary): string {
  return `${grouped(String(variant.counts.scored + variant.counts.task_fail))}/${grouped(String(variant.planned))}`
}

export function designWords(report: CampaignReport): string {
  const { scenarios, families, seeds, splits, splitDeclared, primary, comparator } = report.design
  const names = Object.entries(splits).filter(([, count]) => count > 0)
  const split =
    names.length === 1
      ? inline(names[0]?.[0] ?? '', 40)
      : names.map(([name, count]) => `${count} ${inline(name, 40)}`).join(', ')
  const units = families === null || families === scenarios ? '' : ` in ${plural(families, 'family', 'families')}`
  const versus = comparator === null ? '' : ` vs ${inline(comparator, 80)}`
  return [
    `${inline(primary, 80)}${versus}`,
    `${plural(scenarios, 'scenario')}${units} x ${plural(seeds, 'seed')}`,
    split === '' ? '' : `${split}${splitDeclared ? '' : ' (not declared)'}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Reasons and warnings that the headline does not say already. */
export function furtherReasons(report: CampaignReport): string[] {
  const texts = [...report.verdict.reasons, ...report.warnings].map(({ text }) => text)
  return [...new Set(texts)].filter((text) => !report.verdict.headline.startsWith(text))
}

/** What a green gate could have seen; null where a loss is shown, no difference is asked for, or it is said. */
export function powerSentence(report: CampaignReport, candidate: CandidateReport, scale: Scale): string | null {
  if (candidate.difference === null || candidate.outcome === 'regress' || candidate.outcome === 'invalid') return null
  // Most sentences of a green outcome end with it.
  if (candidate.reasons.some(({ text }) => text.includes('proof of no loss'))) return null
  const { drop, refused } = candidate.detectableDrop
  const size = `${report.design.scenarios}x${report.design.seeds}`
  if (drop === null) {
    const why = refused === undefined ? 'no reason given' : REFUSAL_WORDS[refused]
    return `the drop that would be caught is unknown (${why}; ${size}); this is not proof of no loss`
  }
  const words = scale.difference(Math.abs(drop)).replace('+', '')
  return `a drop of ${words}${scale.unit === 'pp' ? ' pp' : ''} or more would be caught 4 times in 5 (${size}); this is not proof of no loss`
}
