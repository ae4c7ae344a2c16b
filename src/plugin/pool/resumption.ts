import { attemptsOfCalls, carriedSpend } from '../../core/capacity/carried.ts'
import { createAppender, JournalWriteError } from '../../core/journal/append.ts'
import type { EarlierCampaign } from '../../core/journal/earlier.ts'
import { type EarlierSpend, type JournalEntry, settledEntry, type WrittenEntry } from '../../core/journal/entry.ts'
import { decodeLine, recordTextOf } from '../../core/journal/line.ts'
import { type CellFate, resumePlan, type SpentAttempt } from '../../core/journal/resume.ts'
import { countFates, resumedReasons } from '../../core/journal/resumption.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import type { RunRecord } from '../../core/record/record.ts'
import { withBill } from '../../core/record/settled-bill.ts'
import type { Spend } from '../../core/record/spend.ts'
import type { Reason } from '../../core/report/report.ts'
import type { Capture } from '../../core/traffic/capture.ts'
import type { CallRole } from '../../core/traffic/exchange.ts'
import { type CarriedCell, type Rescore, settlementOf } from '../control.ts'
import { thisProcess } from '../process-identity.ts'
import { tellingOf } from '../telling.ts'
import type { CampaignState } from './campaign-state.ts'
import { carriedBills } from './carried-bills.ts'
import { CarriedFiles } from './carried-files.ts'
import { type EarlierJournal, EarlierRuns, UnreadableRunError, type Wanted, whyAfresh } from './earlier-runs.ts'
import { reopenJournalFile } from './journal-file.ts'
import { claimFolder, FolderBusyError, firstOwner, type Ownership, ownerWords } from './owner.ts'

export interface ResumptionOptions {
  readonly root: string
  readonly project: string
  readonly policy: string
  readonly runId: string
  readonly dir: string
  /** EVALS_RECONCILE=1. */
  readonly reconciled: boolean
  /** The run has a budget. */
  readonly budgeted: boolean
  /** What the user says of prices. */
  readonly prices: PriceOverrides
  /** The journal of this run. */
  append(entry: JournalEntry | WrittenEntry): Promise<void>
  appendLazy(entry: JournalEntry | WrittenEntry): void
  /** Tells the user, before anything is spent. */
  say(line: string): void
}

/** Records that are handed to the journal before it is waited for. */
const AT_ONCE = 2_000

/** How a campaign goes on from an earlier run. */
export interface Resumed {
  readonly carried: readonly CarriedCell[]
  /** What its earlier parts spent: a budget binds all of them together. */
  readonly spent: ReturnType<typeof carriedSpend>
  /** What was carried and what was not, for the report. */
  readonly reasons: readonly Reason[]
}

/** Lets the campaigns of a run go on from where an earlier run of theirs was cut off. */
export class Resumption {
  readonly #options: ResumptionOptions
  readonly #runs: EarlierRuns
  /** Folders of earlier runs that this one has taken. */
  readonly #taken = new Map<string, Promise<Ownership>>()
  /** Campaigns of several files come at the same time, and write into one journal in turn. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ResumptionOptions) {
    this.#options = options
    this.#runs = new EarlierRuns({ ...options, isTaken: (runId) => this.#taken.has(runId) })
  }

  /**
   * Looks for the earlier run, takes what it settled into the campaign and its journal, and says so. The campaign's plan
   * is journalled after this: until then nothing of it counts, so that a crash in between loses nothing.
   *
   * @returns null where the campaign begins afresh
   * @throws Error where nothing may be spent before somebody has looked
   */
  async into(state: CampaignState, wanted: Wanted): Promise<Resumed | null> {
    const { campaignId } = state.plan
    const found = await this.#runs.find(wanted)
    if (found.kind === 'none') return null
    if (found.kind !== 'unfinished') return this.#afresh(campaignId, whyAfresh(found))
    const { journal } = found
    try {
      const taking = this.#turn.then(() => this.#take(journal, campaignId))
      this.#turn = taking.catch(() => {})
      await taking
    } catch (error) {
      if (error instanceof FolderBusyError) {
        return this.#afresh(campaignId, `run ${journal.runId} ${ownerWords(error.state)}`)
      }
      throw error
    }
    // Nobody writes there any more: what was read before may not have been all.
    const campaign = journal.run.campaigns.get(campaignId) ?? found.campaign
    return this.#goOn(state, journal, campaign).catch((error: unknown) => {
      throw error instanceof JournalWriteError ? error : unreadable(journal, error)
    })
  }

  async close(): Promise<void> {
    this.#runs.close()
    for (const taken of this.#taken.values()) await (await taken).release()
  }

  #afresh(campaignId: string, why: string): null {
    this.#options.say(`campaign ${campaignId} starts afresh: ${why}`)
    return null
  }

  /** Fences the earlier run off: whatever still writes there after this does not count. */
  async #take(journal: EarlierJournal, campaignId: string): Promise<void> {
    const { dir, path, runId } = journal
    let taking = this.#taken.get(runId)
    if (taking === undefined) {
      taking = claimFolder({ dir, here: thisProcess(), now: () => new Date() })
      this.#taken.set(runId, taking)
      taking.catch(() => this.#taken.delete(runId))
    }
    const ownership = await taking
    journal.refresh()
    const { intactBytes, lines } = journal.run.journal
    const file = await reopenJournalFile(path, intactBytes, () => ownership.assert())
    const appender = createAppender(file, { name: path, firstSeq: lines, fence: ownership.fence })
    try {
      const { runId: by } = this.#options
      await appender.append({ kind: 'fenced', by, campaignId, at: new Date().toISOString() })
    } finally {
      await appender.close()
    }
    journal.appended(1)
  }

  async #goOn(state: CampaignState, journal: EarlierJournal, campaign: EarlierCampaign): Promise<Resumed> {
    const { reconciled, dir } = this.#options
    const planned = [...state.cells.values()]
    const plan = resumePlan(campaign, journal.run.cells, planned, { reconciled })
    const files = new CarriedFiles(journal.dir, dir)
    const holds = state.plan.sideEffects === true && !reconciled
    const fates = await this.#checkRescores(plan.fates, holds, journal, files)
    // Where nothing was captured nobody saw the bill either.
    const trusted = state.plan.capture === 'on' && (await isTrusted(journal, files))
    const { added, kept } = await spendsOf(plan.spent, fates, files, trusted, this.#options.prices)
    const spends = [...plan.spends, ...added]
    const counts = countFates(fates.values())
    const from = journal.runId
    const since = journal.run.run?.startedAt ?? new Date().toISOString()
    const { campaignId } = state.plan
    const { carried, rescored } = counts
    await this.#options.append({ kind: 'resumed', campaignId, from, since, carried, rescored, spends })
    await files.carry(new Set([...fates].flatMap(([cellId, { kind }]) => (kind === 'carried' ? [cellId] : []))))
    const carriedCells = await this.#carry(state, journal, fates)
    const binds = this.#options.budgeted || state.plan.budgetUsd !== undefined
    const { prices } = this.#options
    const paid = binds ? await carriedBills(state.settled.keys(), journal.run.cells, files, trusted, prices) : []
    const spent = carriedSpend([...paid, ...[...spends, ...kept].flatMap(attemptsOfCalls)])
    for (const [cellId, fate] of fates) takeFate(state, cellId, fate, journal)
    const reasons = resumedReasons(counts, spends)
    const started = since.slice(0, 16).replace('T', ' ')
    this.#options.say(`campaign ${campaignId} goes on from run ${from} (${started} UTC); EVALS_RESUME=0 starts afresh`)
    for (const { text } of reasons) this.#options.say(`  ${text}`)
    return { carried: carriedCells, reasons, spent }
  }

  /** Journals the records that stand, as this run's: its folder alone is complete. */
  async #carry(
    state: CampaignState,
    journal: EarlierJournal,
    fates: ReadonlyMap<string, CellFate>,
  ): Promise<CarriedCell[]> {
    const carried: CarriedCell[] = []
    for (const fate of fates.values()) {
      if (fate.kind !== 'carried') continue
      const text = recordTextOf(journal.line(fate.place))
      if (text === null) throw new Error(`${journal.path} changed while it was read`)
      const record: RunRecord = { ...asSettled(JSON.parse(text) as RunRecord, journal), provenance: 'carried' }
      // Paid by the earlier run: nothing of it is this one's spend.
      const settlement = { ...settlementOf(record), usd: 0 }
      state.settle(settlement)
      const entry = settledEntry(settlement.record)
      carried.push(carriedCell(record))
      if (carried.length % AT_ONCE === 0) await this.#options.append(entry)
      else this.#options.appendLazy(entry)
    }
    return carried
  }

  /** Cells whose output cannot be scored after all run again, or wait: no score stands on half of what a subject did. */
  async #checkRescores(
    fates: ReadonlyMap<string, CellFate>,
    holds: boolean,
    journal: EarlierJournal,
    files: CarriedFiles,
  ): Promise<ReadonlyMap<string, CellFate>> {
    const checked = new Map(fates)
    for (const [cellId, fate] of fates) {
      if (fate.kind !== 'rescored') continue
      const { entry } = decodeLine(journal.line(fate.place))
      const { attempt: attempts } = fate
      if (entry.kind === 'subject-settled' && entry.subject !== undefined) {
        const capture = await files.capture(cellId, attempts)
        const hasOutput = entry.file === undefined || (await files.carryOutput(entry.file))
        if (hasOutput && isWhole(capture, entry.subject.calls)) {
          await files.carrySubject(cellId, attempts, capture)
          this.#options.appendLazy(entry)
          continue
        }
      }
      checked.set(cellId, holds ? { kind: 'held', attempts } : { kind: 'again', attempts, why: 'unknown_effect' })
    }
    return checked
  }
}

/** With the bill that somebody settled in the earlier run, where nobody knew it. */
function asSettled(record: RunRecord, { run }: EarlierJournal): RunRecord {
  const microUsd = run.cells.get(record.cellId)?.record?.microUsd ?? null
  return record.cost.usd !== null || microUsd === null ? record : withBill(record, microUsd)
}

/** Every call that the subject made is in the capture, with its end. */
function isWhole({ exchanges, unfinished }: Capture, calls: number): boolean {
  return exchanges.filter(({ role }) => role !== 'judge').length >= calls && unfinished.every(isJudge)
}

/**
 * Captures are not synced line by line: what the machine had not written when it went down is missing from them. Where
 * the captures of cells that called are gone, those of others may be too.
 */
async function isTrusted({ dir, run }: EarlierJournal, files: CarriedFiles): Promise<boolean> {
  const first = await firstOwner(dir)
  if (first === null || first.bootId !== thisProcess().bootId) return false
  const captures = await files.captures()
  if (captures === null) return false
  for (const [cellId, { record }] of run.cells) {
    if (record === null || record.calls === 0 || record.provenance === 'replayed') continue
    if (!captures.has(`${cellId}.${record.attempts}.jsonl`)) return false
  }
  return true
}

interface Spends {
  /** To be told of: no record will contain it. */
  readonly added: readonly EarlierSpend[]
  /** Of subjects whose outputs are scored now: their records will, and the budget has it less already. */
  readonly kept: readonly Spend[]
}

async function spendsOf(
  spent: readonly SpentAttempt[],
  fates: ReadonlyMap<string, CellFate>,
  files: CarriedFiles,
  trusted: boolean,
  prices: PriceOverrides,
): Promise<Spends> {
  if (spent.length === 0) return { added: [], kept: [] }
  // With it comes the price list.
  const { addSpend, NO_SPEND, spendOf, unknownSpend } = await import('../../core/record/spend.ts')
  const added: EarlierSpend[] = []
  const kept: Spend[] = []
  for (const attempt of spent) {
    const { cellId } = attempt
    const fate = fates.get(cellId)
    const part = fate?.kind === 'rescored' && fate.attempt === attempt.attempt ? 'judges' : 'all'
    if (attempt.from === 'record') {
      const { calls, microUsd } = attempt
      added.push({ cellId, attempt: attempt.attempt, part, ...NO_SPEND, calls, microUsd })
      continue
    }
    const capture = await files.capture(cellId, attempt.attempt)
    // What a budget held for the cell bounds what nothing else does.
    const bounded = (spend: Spend): Spend =>
      spend.boundMicroUsd === null ? { ...spend, boundMicroUsd: attempt.heldMicroUsd } : spend
    let spend = spendOf(part === 'all' ? capture : only(capture, isJudge), prices)
    if (part === 'judges') kept.push(bounded(spendOf(only(capture, isSubject), prices)))
    const known = trusted && !(await files.isBlank(cellId, attempt.attempt))
    if (!known) spend = addSpend(spend, unknownSpend(null))
    if (part === 'all' || spend.calls > 0) {
      added.push({ cellId, attempt: attempt.attempt, part, ...bounded(spend) })
    }
  }
  return { added, kept }
}

type Called = { readonly role: CallRole }
const isJudge = ({ role }: Called): boolean => role === 'judge'
const isSubject = ({ role }: Called): boolean => role !== 'judge'

function only({ exchanges, sent, unfinished }: Capture, isOf: (call: Called) => boolean): Capture {
  return { exchanges: exchanges.filter(isOf), sent: sent.filter(isOf), unfinished: unfinished.filter(isOf) }
}

/** @see UnreadableRunError */
function unreadable({ runId, dir }: EarlierJournal, error: unknown): UnreadableRunError {
  const why = error instanceof Error ? error.message : String(error)
  return new UnreadableRunError(
    `run ${runId} cannot be continued: ${why}. Else delete ${dir}, or set EVALS_RESUME=0, to start afresh and pay all of it again`,
    { cause: error },
  )
}

function takeFate(state: CampaignState, cellId: string, fate: CellFate, journal: EarlierJournal): void {
  switch (fate.kind) {
    case 'carried':
      return
    case 'again':
      if (fate.attempts > 0) state.attempts.set(cellId, fate.attempts)
      return
    case 'held':
      state.attempts.set(cellId, fate.attempts)
      state.held.add(cellId)
      return
    case 'rescored':
      // Its attempt is the one that gave the output.
      state.attempts.set(cellId, fate.attempt - 1)
      state.rescores.set(cellId, () => rescoreOf(journal.line(fate.place)))
  }
}

function rescoreOf(line: Buffer): Rescore | null {
  const { entry } = decodeLine(line)
  if (entry.kind !== 'subject-settled' || entry.subject === undefined) return null
  const { output, file, subject } = entry
  if (file !== undefined) return { subject, output: { file } }
  return output === undefined ? null : { subject, output: { value: output } }
}

/** What its test shows, as far as the record says it. */
function carriedCell(record: RunRecord): CarriedCell {
  const { cellId, failure, scores } = record
  const bug = Object.entries(scores).find(([, { role, error }]) => role === 'code' && error !== undefined)
  const thrown = failure?.class === 'unknown' && failure.mode === 'error' ? (failure.message ?? 'an error') : null
  const red = thrown ?? (bug === undefined ? null : `${bug[0]}: ${bug[1].error}`)
  return { cellId, telling: tellingOf(record), red }
}
