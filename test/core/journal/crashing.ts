import { cellsOf } from '../../../src/core/campaign/cells.ts'
import type { CampaignPlan, PlannedCell } from '../../../src/core/campaign/plan.ts'
import { attemptsOfCalls, carriedSpend, type EarlierAttempt } from '../../../src/core/capacity/carried.ts'
import {
  createGovernor,
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
} from '../../../src/core/capacity/governor.ts'
import type { BudgetSnapshot } from '../../../src/core/capacity/snapshot.ts'
import { type EarlierRun, earlierRun } from '../../../src/core/journal/earlier.ts'
import type { EarlierSpend, EntryOf, JournalEntry } from '../../../src/core/journal/entry.ts'
import type { JournalEnd, JournalLine } from '../../../src/core/journal/read.ts'
import { type CellFate, isUnfinished, resumePlan } from '../../../src/core/journal/resume.ts'
import { neverRan } from '../../../src/core/record/build.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { recordOf, someDigest } from './samples.ts'

const AT = '2026-01-02T03:04:05.000Z'
/** What one call is charged, and the most that its request says it can be. */
export const CALL = { subject: 70, judge: 30 } as const
export const BOUND = { subject: 100, judge: 40 } as const
type Role = keyof typeof CALL

interface CaptureLine {
  readonly kind: 'sent' | 'exchange'
  readonly role: Role
}

const planned = new WeakMap<CampaignPlan, readonly PlannedCell[]>()

/** Hashing their ids again for every crash would be most of the time. */
function plannedCells(plan: CampaignPlan): readonly PlannedCell[] {
  const known = planned.get(plan) ?? cellsOf(plan)
  planned.set(plan, known)
  return known
}

/** The process died. */
class Crash extends Error {}

export interface Script {
  readonly plan: CampaignPlan
  /** Cells in flight. */
  readonly slots: number
  /** Which cell in flight takes its next step. In [0, 1). */
  readonly random: () => number
  /** Whether a judge scores the cell. */
  readonly judged: (cell: PlannedCell) => boolean
  /** How the attempt ends; default: it is scored. */
  readonly ends?: (cell: PlannedCell, attempt: number) => 'scored' | 'infra_error' | 'judge_error'
  /** Micro-USD that all lives together may spend; default: no budget. */
  readonly budget?: number
}

const LANES = { subject: 'p/subject', judge: 'p/judge' } as const

type Decision = Extract<GovernorEffect, { readonly type: 'lease-granted' | 'lease-refused' }>

function governorOf(cells: number, limitMicroUsd: number): Governor {
  const lanes = (['subject', 'judge'] as const).map((role) => ({
    match: LANES[role],
    usdPerCell: BOUND[role] / 1_000_000,
  }))
  return createGovernor({ cells, lanes }, () => 0, { budget: { limitMicroUsd } })
}

/** Where there is no money to think of: a thousand lives of 200 cells are to be quick. */
function slotsAlone(cells: number): Pick<Governor, 'send' | 'snapshot'> {
  const waiting: string[] = []
  let free = cells
  let leaseId = 1
  return {
    send(events) {
      const effects: GovernorEffect[] = []
      for (const event of events) {
        if (event.type === 'ask-lease') waiting.push(event.request.cellId)
        else if (event.type === 'release-lease') free++
        else if (event.type === 'ask-judge')
          effects.push({ type: 'judge-granted', judgeId: event.judgeId, waitedMs: 0 })
        else if (event.type === 'ask-permit') {
          effects.push({ type: 'permit-granted', permitId: event.permitId, waitedMs: 0 })
        }
      }
      for (; free > 0 && waiting.length > 0; free--) {
        effects.push({ type: 'lease-granted', cellId: waiting.shift() ?? '', leaseId: leaseId++, queueMs: 0 })
      }
      return effects
    },
    snapshot: () => createGovernor({}, () => 0).snapshot(),
  }
}

/** Asks the governor, the real one under a budget, and tells it of everything as it happens. */
class Admission {
  readonly #governor: Pick<Governor, 'send' | 'snapshot'>
  /** Cells that may go, with what is held for them, or may not: since somebody last looked. */
  decided: Decision[] = []
  #judges = new Set<number>()
  #permits = new Set<number>()
  #next = 1

  constructor(slots: number, budget: number | undefined) {
    this.#governor = budget === undefined ? slotsAlone(slots) : governorOf(slots, budget)
  }

  get budget(): BudgetSnapshot | undefined {
    return this.#governor.snapshot().budgets[0]
  }

  send(...events: readonly GovernorEvent[]): void {
    for (const effect of this.#governor.send(events)) {
      switch (effect.type) {
        case 'lease-granted':
        case 'lease-refused':
          this.decided.push(effect)
          break
        case 'judge-granted':
          this.#judges.add(effect.judgeId)
          break
        case 'permit-granted':
          this.#permits.add(effect.permitId)
          break
        default:
          throw new Error(`nothing here is to end in ${effect.type}`)
      }
    }
  }

  /** Waits for the permit; gives what takes the bill. */
  *permit(cellId: string, role: Role): Generator<void, (microUsd: number | null) => void> {
    const permitId = this.#next++
    this.send({
      type: 'ask-permit',
      permitId,
      request: { cellId, lane: LANES[role], role, tokens: { input: 1, output: 1 }, boundMicroUsd: BOUND[role] },
    })
    while (!this.#permits.has(permitId)) yield
    return (microUsd) => {
      const result = { kind: 'answered' } as const
      this.send({ type: 'release-permit', permitId, outcome: { result, tokens: null, microUsd } })
    }
  }

  *judge(cellId: string): Generator<void, () => void> {
    const judgeId = this.#next++
    this.send({ type: 'ask-judge', judgeId, request: { cellId, lane: LANES.judge } })
    while (!this.#judges.has(judgeId)) yield
    return () => this.send({ type: 'release-judge', judgeId })
  }
}

/** A provider that counts, and disks with the runs of a campaign: what a crash leaves is what was written before it. */
export class Machine {
  readonly journals: JournalEntry[][] = []
  readonly captures: Map<string, CaptureLine[]>[] = []
  /** Calls that reached the provider, by cell and role: what is true about money. */
  readonly calls = new Map<string, number>()
  /** What the governor of the last life says of the budget. */
  budget: BudgetSnapshot | undefined
  #left: number

  /** @param steps durable writes before the first run dies */
  constructor(steps = Number.POSITIVE_INFINITY) {
    this.#left = steps
  }

  called(cellId: string, role: Role): number {
    return this.calls.get(`${cellId} ${role}`) ?? 0
  }

  get paid(): number {
    let sum = 0
    for (const [call, count] of this.calls) sum += count * CALL[call.endsWith('judge') ? 'judge' : 'subject']
    return sum
  }

  /** Runs the campaign, going on from what is there; false when the machine died. */
  run(script: Script, steps = this.#left, options: { readonly reconciled?: boolean } = {}): boolean {
    this.#left = steps
    try {
      this.#run(script, options.reconciled ?? false)
      return true
    } catch (error) {
      if (error instanceof Crash) return false
      throw error
    }
  }

  #step(write: () => void): void {
    write()
    this.#left--
    if (this.#left <= 0) throw new Crash()
  }

  #run(script: Script, reconciled: boolean): void {
    const { plan, slots, random } = script
    const cells = plannedCells(plan)
    const earlier = this.#earlier(plan)
    const journal: JournalEntry[] = []
    const capture = new Map<string, CaptureLine[]>()
    this.journals.push(journal)
    this.captures.push(capture)
    const write = (entry: JournalEntry): void => this.#step(() => journal.push(entry))
    write(runEntry(`r${this.journals.length}`))
    const admission = new Admission(slots, script.budget)
    const fates = earlier === null ? null : this.#carry(script, earlier, reconciled, capture, write, admission)
    write({ kind: 'plan', plan, fingerprint: someDigest, selection: 'all', skipped: false })
    const waiting = cells.filter(({ cellId }) => fates?.get(cellId)?.kind !== 'carried')
    const flying: Generator<void>[] = []
    admission.send(
      ...waiting.map(({ cellId, campaignId, position }): GovernorEvent => {
        const rank = [...position, campaignId] as const
        return { type: 'ask-lease', request: { cellId, lane: LANES.subject, rank, judges: [LANES.judge] } }
      }),
    )
    const left = new Map(waiting.map((cell) => [cell.cellId, cell]))
    while (left.size + flying.length > 0) {
      for (const decision of admission.decided.splice(0)) {
        const cell = left.get(decision.cellId)
        if (cell === undefined) throw new Error('it was decided before')
        left.delete(cell.cellId)
        const fate = fates?.get(cell.cellId)
        if (decision.type === 'lease-granted')
          flying.push(this.#cell(script, cell, fate, capture, write, admission, decision))
        else write({ kind: 'settled', record: unrun(plan, cell, 'budget', attemptsOf(fate)) })
      }
      if (flying.length === 0 && left.size > 0) throw new Error('cells wait, and nothing is in flight')
      const at = Math.floor(random() * flying.length)
      if (flying[at]?.next().done === true) flying.splice(at, 1)
    }
    this.budget = admission.budget
    write({ kind: 'end', reason: 'finished' })
  }

  *#cell(
    { plan, judged, ends }: Script,
    cell: PlannedCell,
    fate: CellFate | undefined,
    capture: Map<string, CaptureLine[]>,
    write: (entry: JournalEntry) => void,
    admission: Admission,
    { leaseId, heldMicroUsd }: Extract<Decision, { readonly type: 'lease-granted' }>,
  ): Generator<void> {
    const { cellId } = cell
    const held = heldMicroUsd === undefined ? {} : { heldMicroUsd }
    if (fate?.kind === 'held') {
      write({ kind: 'settled', record: unrun(plan, cell, 'unknown-effect', fate.attempts) })
      admission.send({ type: 'release-lease', leaseId })
      return
    }
    const rescored = fate?.kind === 'rescored'
    const attempt = rescored ? fate.attempt : fate?.kind === 'again' ? fate.attempts + 1 : 1
    const lines = capture.get(`${cellId}.${attempt}`) ?? []
    capture.set(`${cellId}.${attempt}`, lines)
    const call = function* (this: Machine, role: Role): Generator<void> {
      const charge = yield* admission.permit(cellId, role)
      // The subject's is the first of the attempt, a judge's that of an attempt whose subject another life ran.
      if (role === 'subject' || rescored) write({ kind: 'admitted', cellId, attempt, lane: null, ...held, at: AT })
      yield
      this.#step(() => lines.push({ kind: 'sent', role }))
      yield
      this.calls.set(`${cellId} ${role}`, this.called(cellId, role) + 1)
      yield
      this.#step(() => lines.push({ kind: 'exchange', role }))
      charge(CALL[role])
      yield
    }.bind(this)
    if (!rescored) yield* call('subject')
    const end = ends?.(cell, attempt) ?? 'scored'
    if (end === 'infra_error') {
      write({ kind: 'settled', record: recordAt(cell, attempt, 'infra_error', CALL.subject, false) })
      admission.send({ type: 'release-lease', leaseId })
      return
    }
    const judges = judged(cell)
    if (judges) {
      if (!rescored) write(outputEntry(cellId, attempt))
      yield
      const done = yield* admission.judge(cellId)
      yield* call('judge')
      done()
    }
    const microUsd = CALL.subject + (judges ? CALL.judge : 0)
    if (end === 'judge_error' && !judges) write(outputEntry(cellId, attempt))
    write({ kind: 'settled', record: recordAt(cell, attempt, end, microUsd, judges, rescored) })
    admission.send({ type: 'release-lease', leaseId })
  }

  /** The last run that answers for the campaign. */
  #earlier(plan: CampaignPlan): { readonly run: EarlierRun; readonly at: number } | null {
    for (let at = this.journals.length - 1; at >= 0; at--) {
      const run = earlierRun(linesOf(this.journals[at] ?? []))
      if (!run.campaigns.has(plan.campaignId)) continue
      return isUnfinished(run, () => true) ? { run, at } : null
    }
    return null
  }

  #carry(
    { plan }: Script,
    { run, at }: { readonly run: EarlierRun; readonly at: number },
    reconciled: boolean,
    into: Map<string, CaptureLine[]>,
    write: (entry: JournalEntry) => void,
    admission: Admission,
  ): ReadonlyMap<string, CellFate> {
    const campaign = run.campaigns.get(plan.campaignId)
    if (campaign === undefined) throw new Error('it was there')
    const captured = this.captures[at] ?? new Map<string, CaptureLine[]>()
    const { fates, spends, spent } = resumePlan(campaign, run.cells, plannedCells(plan), { reconciled })
    const before: EarlierAttempt[] = []
    const added = spent.map((attempt): EarlierSpend => {
      const { cellId } = attempt
      const fate = fates.get(cellId)
      const part = fate?.kind === 'rescored' && fate.attempt === attempt.attempt ? 'judges' : 'all'
      const subject = (captured.get(`${cellId}.${attempt.attempt}`) ?? []).filter(({ role }) => role === 'subject')
      if (part === 'judges') before.push(...attemptsOfCalls(spendOf(subject)))
      const known = { cellId, attempt: attempt.attempt, part } as const
      if (attempt.from === 'record') {
        const { calls, microUsd } = attempt
        return { ...known, calls, microUsd, unknownCalls: 0, boundMicroUsd: 0 }
      }
      const lines = captured.get(`${cellId}.${attempt.attempt}`) ?? []
      return { ...known, ...spendOf(part === 'judges' ? lines.filter(({ role }) => role === 'judge') : lines) }
    })
    const counted = [...fates.values()]
    write({
      kind: 'resumed',
      campaignId: plan.campaignId,
      from: `r${at + 1}`,
      since: AT,
      carried: counted.filter(({ kind }) => kind === 'carried').length,
      rescored: counted.filter(({ kind }) => kind === 'rescored').length,
      spends: [...spends, ...added],
    })
    before.push(...[...spends, ...added].flatMap(attemptsOfCalls))
    for (const [cellId, fate] of fates) {
      if (fate.kind === 'carried') {
        const entry = (this.journals[at] ?? [])[fate.place.offset]
        if (entry?.kind !== 'settled') throw new Error('a record stood there')
        before.push({ heldMicroUsd: null, usd: entry.record.cost.usd })
        write({ kind: 'settled', record: { ...entry.record, provenance: 'carried' } })
      } else if (fate.kind === 'rescored') {
        const entry = (this.journals[at] ?? [])[fate.place.offset]
        if (entry?.kind !== 'subject-settled') throw new Error('an output stood there')
        const lines = captured.get(`${cellId}.${fate.attempt}`) ?? []
        into.set(
          `${cellId}.${fate.attempt}`,
          lines.filter(({ role }) => role === 'subject'),
        )
        write(entry)
      }
    }
    const { chargedMicroUsd, unknownMicroUsd } = carriedSpend(before)
    admission.send({ type: 'spent-before', chargedMicroUsd, unknownMicroUsd })
    return fates
  }
}

function attemptsOf(fate: CellFate | undefined): number {
  if (fate === undefined || fate.kind === 'carried') return 0
  // A cell that is not scored after all did not begin its attempt anew: its output stays the last word.
  return fate.kind === 'rescored' ? fate.attempt - 1 : fate.attempts
}

function unrun(
  plan: CampaignPlan,
  cell: PlannedCell,
  reason: 'budget' | 'unknown-effect',
  attempts: number,
): RunRecord {
  const run = { runId: 'r', fingerprint: someDigest, commit: { sha: null, dirty: false } }
  return neverRan(run, plan, cell, { status: 'not_run', reason, attempts })
}

function spendOf(lines: readonly CaptureLine[]): Omit<EarlierSpend, 'cellId' | 'attempt' | 'part'> {
  let microUsd = 0
  let calls = 0
  let unknownCalls = 0
  let boundMicroUsd = 0
  for (const role of ['subject', 'judge'] as const) {
    const count = (kind: CaptureLine['kind']): number =>
      lines.filter((line) => line.kind === kind && line.role === role).length
    const open = count('sent') - count('exchange')
    microUsd += count('exchange') * CALL[role]
    calls += count('sent')
    unknownCalls += open
    boundMicroUsd += open * BOUND[role]
  }
  return { calls, microUsd, unknownCalls, boundMicroUsd }
}

const records = new Map<string, RunRecord>()

/** Building one hashes its digests: most of the time of a thousand crashes. */
function recordAt(...facts: Parameters<typeof buildRecord>): RunRecord {
  const key = JSON.stringify([facts[0].campaignId, facts[0].cellId, ...facts.slice(1)])
  const known = records.get(key) ?? buildRecord(...facts)
  records.set(key, known)
  return known
}

function buildRecord(
  { campaignId, variant, scenario, seed, cellId }: PlannedCell,
  attempts: number,
  status: 'scored' | 'infra_error' | 'judge_error',
  microUsd: number,
  judged: boolean,
  rescored = false,
): RunRecord {
  const score = status === 'scored' ? (Number.parseInt(cellId.slice(0, 2), 16) % 2 === 0 ? 1 : 0) : null
  return recordOf(campaignId, variant.id, scenario.id, seed, {
    status,
    score,
    pass: score === null ? null : score === 1,
    attempts,
    provenance: rescored ? 'carried' : 'live',
    cost: {
      usd: microUsd / 1_000_000,
      provenance: 'estimated',
      subjectUsd: CALL.subject / 1_000_000,
      judgeUsd: judged ? CALL.judge / 1_000_000 : 0,
    },
    calls: { subject: 1, judge: judged ? 1 : 0, setup: 0, retried: 0, mocked: 0 },
    ...(status === 'infra_error' ? { reason: 'provider-fault' as const, output: null } : {}),
  })
}

export function outputEntry(cellId: string, attempt: number, faithful = true): EntryOf<'subject-settled'> {
  return {
    kind: 'subject-settled',
    cellId,
    attempt,
    output: 'an answer',
    subject: {
      startedAt: AT,
      queueMs: 0,
      wallMs: 1,
      digest: someDigest,
      faithful,
      calls: 1,
      metrics: {},
      tags: {},
      profile: null,
    },
    at: AT,
  }
}

export function runEntry(runId: string): EntryOf<'run'> {
  return {
    kind: 'run',
    runId,
    project: 'evals',
    policy: 'live',
    policyReason: 'a test',
    commit: { sha: null, dirty: false },
    versions: {},
    startedAt: AT,
  }
}

/** Lines whose place is their number: nobody reads their text. */
export function* linesOf(entries: readonly JournalEntry[]): Generator<JournalLine, JournalEnd> {
  const line = Buffer.alloc(0)
  for (const [offset, entry] of entries.entries()) yield { entry, line, offset }
  return { intactBytes: entries.length, repaired: null, fence: 1, fencedOff: 0 }
}
