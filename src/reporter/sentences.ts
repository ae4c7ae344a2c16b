import { CELL_STATUSES, type CellStatus } from '../core/record/status.ts'
import type { CandidateReport, GuardrailReport } from '../core/report/candidate-report.ts'
import type { CampaignReport, Estimate, Outcome, StatusCounts } from '../core/report/report.ts'
import type { VariantSummary } from '../core/report/variant-report.ts'
import { inline } from './inline.ts'
import {
  dollars,
  duration,
  grouped,
  percent,
  plural,
  pValue,
  REFUSAL_WORDS,
  type Scale,
  scaleOf,
  type Typography,
  unknown,
} from './numbers.ts'

/** Worst first: what a reader must see before anything else. */
const SEVERITY: readonly Outcome[] = ['invalid', 'regress', 'inconclusive', 'underpowered', 'hold', 'ship']
export const severity = (outcome: Outcome): number => SEVERITY.indexOf(outcome)

export function bySeverity(candidates: readonly CandidateReport[]): CandidateReport[] {
  return candidates.toSorted((a, b) => severity(a.outcome) - severity(b.outcome))
}

/** `replayed, recorded 2026-11-02` where not every cell was measured now; null where all are fresh. */
export function stale(evidence: CampaignReport['evidence']): string | null {
  const { live, replayed, mixed, carried, silent } = evidence
  const parts: string[] = []
  const total = live + replayed + mixed + carried + silent
  const part = (count: number, word: string): void => {
    if (count > 0) parts.push(count === total ? word : `${grouped(String(count))} of ${grouped(String(total))} ${word}`)
  }
  part(replayed, 'replayed')
  part(mixed, 'partly replayed')
  part(carried, 'carried over')
  if (parts.length === 0) return null
  const from = evidence.recordedFrom === null ? null : day(evidence.recordedFrom)
  const to = evidence.recordedTo === null ? null : day(evidence.recordedTo)
  // A cell that is carried over was measured when its run was, and is no recording.
  if (from === null && to === null && replayed + mixed === 0) return parts.join(', ')
  if (from === null && to === null) return `${parts.join(', ')}, recording date unknown`
  const dates = from === null || to === null || from === to ? (from ?? to) : `${from} to ${to}`
  return `${parts.join(', ')}, recorded ${dates}`
}

/** Cells behind which no captured call stands; empty where there are none. */
export function silentWords({ live, replayed, mixed, carried, silent }: CampaignReport['evidence']): string {
  if (silent === 0) return ''
  if (live + replayed + mixed + carried === 0) return 'no cell made a captured call to a model provider'
  return `${plural(silent, 'cell')} without a captured call to a model provider`
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
  // The headline of an interrupted run counts the cells that have a result.
  const interrupted = report.verdict.headline.startsWith('the run was interrupted')
  // The integrity section counts and explains what failed its checks.
  const checked = report.integrity.issues.some(({ severity }) => severity === 'error')
  const texts = [...report.verdict.reasons, ...report.warnings]
    .filter(({ code }) => (!interrupted || code !== 'interrupted') && (!checked || code !== 'capture_error'))
    .map(({ text }) => text)
  return [...new Set(texts)].filter((text) => !report.verdict.headline.startsWith(text))
}

/** What a green gate could have seen; null where something is shown, no difference is asked for, or it is said. */
export function powerSentence(report: CampaignReport, candidate: CandidateReport, scale: Scale): string | null {
  if (candidate.difference === null || candidate.difference.est === null) return null
  // What ships has been shown: "no proof" would take it back.
  if (candidate.outcome === 'regress' || candidate.outcome === 'invalid' || candidate.outcome === 'ship') return null
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

/** What stands beside the two tests that decide: a table of pairs, or ranks. */
export function testWords({ tests: { mcnemar, wilcoxon } }: CandidateReport, scale: Scale): string[] {
  const unit = scale.unit === 'pp' ? ' pp' : ''
  const range = ({ lo, hi }: Estimate): string =>
    lo === null || hi === null ? '' : ` [${scale.difference(lo)}, ${scale.difference(hi)}]${unit}`
  return [
    ...(mcnemar === null
      ? []
      : [
          `${mcnemar.better} better, ${mcnemar.worse} worse: McNemar p ${pValue(mcnemar.p)}, Tango${range(mcnemar.interval)}`,
        ]),
    ...(wilcoxon === null || wilcoxon.p === null
      ? []
      : [`signed ranks p ${pValue(wilcoxon.p)}, pseudo-median${range(wilcoxon.pseudoMedian)}`]),
  ]
}

/** Signed points of percent, whatever the primary score's own scale. */
function points(share: number, type: Typography): string {
  return scaleOf([0, 1], type).difference(share)
}

/** A guardrail's numbers as they stand in a table row. */
export interface GuardrailWords {
  readonly comparator: string
  readonly candidate: string
  readonly limit: string
  readonly status: string
}

export function guardrailWords(rail: GuardrailReport, type: Typography): GuardrailWords {
  const score = rail.endpoint === 'score' || rail.endpoint === 'passRate'
  const amount = (value: number): string => {
    if (rail.endpoint === 'cost') return dollars(value)
    if (rail.endpoint === 'passRate') return percent(value)
    return score ? String(Number(value.toPrecision(3))) : duration(value)
  }
  const level = (value: number | null): string => (value === null ? 'unknown' : amount(value))
  const moved = (value: number, unit = ' pp'): string => {
    if (rail.ratio !== null) return `${Number(value.toPrecision(3))}x`
    if (rail.endpoint === 'passRate') return points(value, type) + unit
    const sign = value < 0 ? type.minus : '+'
    return `${value === 0 ? '' : sign}${amount(Math.abs(value))}`
  }
  const worst = rail.ratio ?? (score ? -1 : 1) * (rail.diff ?? 0)
  const { est, lo, hi, refused } = rail.estimate
  const range =
    lo === null && hi === null ? '' : ` [${lo === null ? '?' : moved(lo, '')}, ${hi === null ? '?' : moved(hi, '')}]`
  const word = rail.outcome === 'violated' ? 'VIOLATED' : rail.outcome
  const number = est === null ? (range === '' ? unknown(refused) : '?') : moved(est)
  return {
    comparator: level(rail.comparator),
    candidate: level(rail.candidate),
    limit: moved(worst),
    status: `${word} ${number}${range}`,
  }
}

/** Names the clock behind a latency; nothing for what has none. */
export function clockWord({ clock }: GuardrailReport): string {
  return clock === null ? '' : ` (${clock})`
}

/** A time, or that it lies beyond the limit at which runs were cut off. */
export function timeWords(estimate: Estimate, limitMs: number): string | null {
  if (estimate.est !== null) return duration(estimate.est)
  if (estimate.refused !== 'beyond_limit') return null
  // As the option says it: a limit is a round number of seconds more often than of minutes.
  return `>${limitMs < 7_200_000 ? `${Number((limitMs / 1_000).toPrecision(4))} s` : duration(limitMs)}`
}

/** How far the seeds of a scenario agree; null with one seed, or where the score neither passes nor fails. */
export function seedsSentence({ id, flakiness, reliability }: VariantSummary): string | null {
  const judged = flakiness.flaky + flakiness.stablePass + flakiness.stableFail
  if (flakiness.share === null || reliability.k < 2 || judged === 0) return null
  const { k, passAtK, passHatK } = reliability
  const chance = (name: string, { est }: Estimate): string => (est === null ? '' : `, ${name} ${percent(est)}`)
  return `${inline(id, 40)} ${flakiness.flaky} of ${judged} flaky${chance(`pass@${k}`, passAtK)}${chance(`pass^${k}`, passHatK)}`
}

/** Who is better and cheaper than whom; null where no place is known. */
export function frontierSentence(report: CampaignReport): string | null {
  const placed = report.variants.filter(({ frontier }) => frontier.class !== null)
  if (placed.length < 2) return null
  return placed
    .map(({ id, frontier: { class: place, dominatedBy, probability } }) => {
      const by = dominatedBy.length === 0 ? '' : ` by ${dominatedBy.map((other) => inline(other, 40)).join(', ')}`
      const chance = probability === null || place === 'dominated' ? '' : ` (${(probability * 100).toFixed(0)} %)`
      return `${inline(id, 40)} ${place}${by}${chance}`
    })
    .join(', ')
}

/** What tuning fitted to its scenarios, variant by variant. */
export function splitSentences(report: CampaignReport, scale: Scale): string[] {
  return report.variants.flatMap(({ id, splits, overfitGap }) => {
    if (splits.length < 2) return []
    const means = splits.map(({ split, mean }) => `${split} ${mean.est === null ? 'unknown' : scale.value(mean.est)}`)
    const unit = scale.unit === 'pp' ? ' pp' : ''
    const gap = overfitGap?.est == null ? '' : `, gap ${scale.difference(overfitGap.est)}${unit}`
    return [`${inline(id, 40)} ${means.join(', ')}${gap}`]
  })
}

const ORDERS: { readonly [order in NonNullable<CampaignReport['prereg']>['order']]: string } = {
  before: '',
  after: ', committed after the first measurement',
  uncommitted: ', not committed as it is',
  unknown: ', time order unknown',
}

/** Whether what was decided had been fixed before; null where nothing was. */
export function preregSentence({ prereg, looks, design }: CampaignReport): string | null {
  const spent = looks.spent === null ? '' : `, alpha ${share(looks.spent)} of ${share(design.alpha)} spent`
  const counted = looks.allowed > 1 || looks.exhausted || looks.spent !== null
  const look = counted ? `look ${looks.used} of ${looks.allowed}${spent}` : ''
  if (prereg === null) return look === '' ? null : look
  const hash = inline(prereg.hash.replace(/^sha256(-jcs)?:/, '').slice(0, 8))
  const fields = prereg.deviations.map(({ field }) => inline(field, 60)).join(', ')
  const deviations = plural(prereg.deviations.length, 'deviation')
  const parts = [
    `${hash} ${prereg.verified ? 'verified' : `NOT verified${ORDERS[prereg.order]}`}`,
    fields === '' ? deviations : `${deviations}: ${fields}`,
  ]
  return [...parts, ...(look === '' ? [] : [look])].join(', ')
}

const share = (alpha: number): string => String(Number(alpha.toPrecision(3)))
