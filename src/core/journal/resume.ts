import { cellsOf } from '../campaign/cells.ts'
import type { PlannedCell } from '../campaign/plan.ts'
import type { CellStatus, StatusReason } from '../record/status.ts'
import type { MicroUsd } from '../record/usage.ts'
import type { EarlierCampaign, EarlierCell, EarlierRun } from './earlier.ts'
import type { EarlierSpend } from './entry.ts'
import type { RecordPlace } from './recorded.ts'

/** Why a cell of an earlier run is not carried over. */
export const AGAIN = ['not_run', 'unknown_effect', 'unfaithful', 'infra_error', 'judge_error', 'replayed'] as const
export type Again = (typeof AGAIN)[number]

/** What becomes of a cell when a later run goes on. */
export type CellFate =
  /** It was settled: its record stands, and nothing of it is paid again. */
  | { readonly kind: 'carried'; readonly place: RecordPlace }
  /** It has an output and no score: it is scored, and its subject is not run. */
  | { readonly kind: 'rescored'; readonly place: RecordPlace; readonly attempt: number }
  /** It runs, after so many attempts that gave nothing lasting. */
  | { readonly kind: 'again'; readonly attempts: number; readonly why: Again }
  /** It was cut off, its campaign has side effects, and nobody has said that it may run again. */
  | { readonly kind: 'held'; readonly attempts: number }

/** Money of an attempt whose result does not last. */
export type SpentAttempt = { readonly cellId: string; readonly attempt: number } & (
  | { readonly from: 'record'; readonly microUsd: MicroUsd; readonly calls: number }
  /** To be read off the raw capture: all of it, or beside an output that stays what its judges cost. */
  | { readonly from: 'capture'; readonly heldMicroUsd: MicroUsd | null }
)

export interface ResumePlan {
  /** Of every planned cell. */
  readonly fates: ReadonlyMap<string, CellFate>
  /** Known of runs before the earlier one. */
  readonly spends: readonly EarlierSpend[]
  /** Of the earlier run, to be added. */
  readonly spent: readonly SpentAttempt[]
}

/** Whether a result stands. A capture error is paid for, and its cell is not measured again unasked. */
export function isResult(status: CellStatus): boolean {
  return status === 'scored' || status === 'task_fail' || status === 'capture_error'
}

/** The main process settled the cell, whatever its subject had given. */
const CUT_OFF: ReadonlySet<StatusReason | undefined> = new Set<StatusReason | undefined>(['worker-lost', 'interrupted'])

/**
 * Whether an earlier run left something to do: it was cut off, or one of its cells has no result and no later run has
 * gone on with it. A run that came to its end with a result in every cell is over: the next one measures afresh.
 *
 * @param answers whether the run that took a campaign over has its plan: one that died before has gone on with nothing
 */
export function isUnfinished(
  { end, campaigns, cells }: EarlierRun,
  answers: (continuedBy: string, campaignId: string) => boolean,
): boolean {
  if (end !== 'finished') return true
  for (const [campaignId, { plan, whole, continuedBy }] of campaigns) {
    if (!whole || (continuedBy !== null && answers(continuedBy, campaignId))) continue
    for (const { cellId } of cellsOf(plan)) if (!isSettled(cells.get(cellId))) return true
  }
  return false
}

function isSettled(cell: EarlierCell | undefined): boolean {
  return cell?.record != null && isResult(cell.record.status) && lastAttempt(cell) <= cell.record.attempts
}

const lastAttempt = ({ record, admitted, output }: EarlierCell): number =>
  Math.max(record?.attempts ?? 0, admitted.at(-1)?.attempt ?? 0, output?.attempt ?? 0)

/**
 * What becomes of every cell of a campaign whose fingerprint an earlier run has too. The order in which that run settled
 * its cells does not matter.
 *
 * @param reconciled somebody has looked at what cells with side effects did before they were cut off
 */
export function resumePlan(
  campaign: EarlierCampaign,
  cells: EarlierRun['cells'],
  planned: readonly PlannedCell[],
  { reconciled }: { readonly reconciled: boolean },
): ResumePlan {
  const fates = new Map<string, CellFate>()
  const spent: SpentAttempt[] = []
  // Attempts of runs before that one: its own lines may not have reached their cells.
  const before = new Map<string, number>()
  for (const { cellId, attempt, part } of campaign.spends) {
    if (part === 'all') before.set(cellId, Math.max(before.get(cellId) ?? 0, attempt))
  }
  const holds = campaign.plan.sideEffects === true && !reconciled
  for (const { cellId } of planned) {
    const cell = cells.get(cellId) ?? NOTHING
    const known = before.get(cellId) ?? 0
    const fate = fateOf(cell, known, holds)
    fates.set(cellId, fate)
    if (fate.kind === 'carried' || (fate.kind === 'again' && fate.why === 'replayed')) continue
    spent.push(...spentOn(cellId, cell, fate, known))
  }
  return { fates, spends: campaign.spends, spent }
}

/** A record's cost covers the attempts before it in its run; where there is none that lasts, each attempt is looked for. */
function* spentOn(cellId: string, cell: EarlierCell, fate: CellFate, known: number): Generator<SpentAttempt> {
  const { record } = cell
  let next = known + 1
  if (fate.kind !== 'rescored' && record !== null && record.microUsd !== null && record.attempts >= next) {
    yield { cellId, attempt: record.attempts, from: 'record', microUsd: record.microUsd, calls: record.calls }
    next = record.attempts + 1
  }
  for (let attempt = next; attempt <= lastAttempt(cell); attempt++) {
    yield { cellId, attempt, from: 'capture', heldMicroUsd: heldFor(cell, attempt) }
  }
  // Added to what is known of it already: its judges may have been cut off more than once.
  if (fate.kind === 'rescored' && fate.attempt < next) {
    yield { cellId, attempt: fate.attempt, from: 'capture', heldMicroUsd: heldFor(cell, fate.attempt) }
  }
}

const heldFor = ({ admitted }: EarlierCell, attempt: number): MicroUsd | null =>
  admitted.find((each) => each.attempt === attempt)?.heldMicroUsd ?? null

const NOTHING: EarlierCell = { record: null, admitted: [], output: null }

function fateOf(cell: EarlierCell, before: number, holds: boolean): CellFate {
  const { record, output } = cell
  const attempts = Math.max(lastAttempt(cell), before)
  const settled = record !== null && attempts <= record.attempts ? record : null
  if (settled !== null && isResult(settled.status)) {
    // Its recording gives it again, for nothing, and may have been changed on purpose since.
    if (settled.provenance === 'replayed') return { kind: 'again', attempts: 0, why: 'replayed' }
    return { kind: 'carried', place: settled.place }
  }
  const isUnscored = output?.attempt === attempts && (settled === null || lacksScore(settled))
  if (isUnscored && output.faithful) return { kind: 'rescored', place: output.place, attempt: attempts }
  if (attempts > 0 && holds) return { kind: 'held', attempts }
  if (isUnscored) return { kind: 'again', attempts, why: 'unfaithful' }
  if (settled !== null) return { kind: 'again', attempts, why: whyOf(settled.status) }
  return { kind: 'again', attempts, why: lastAttempt(cell) > before ? 'unknown_effect' : 'not_run' }
}

/** An output stands beside the record, and nothing says that it is none. */
function lacksScore({ status, reason }: NonNullable<EarlierCell['record']>): boolean {
  return status === 'judge_error' || (status === 'infra_error' && CUT_OFF.has(reason))
}

function whyOf(status: CellStatus): Again {
  return status === 'infra_error' || status === 'judge_error' ? status : 'not_run'
}
