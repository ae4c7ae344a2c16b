import type { StatusReason } from '../record/status.ts'
import type { Budgets } from './budgets.ts'
import type { GovernorEffect, JudgeRequest, LeaseRequest } from './events.ts'
import { Heap } from './heap.ts'
import type { Waiting } from './lane-traffic.ts'
import { closureOf, type Lane, type Lanes } from './lanes.ts'
import type { CellLeases } from './leases.ts'
import { compareRank } from './rank.ts'

interface Judge {
  readonly id: number
  readonly cellId: string
  /** The lease its cell holds: judges are served in the order of their cells. */
  readonly lease: LeaseRequest
  readonly lane: Lane | null
  readonly laneName: string | null
  readonly askedAt: number
  state: 'waiting' | 'held' | 'gone'
}

const byRank = (a: Judge, b: Judge): number => compareRank(a.lease, b.lease) || a.id - b.id

/**
 * Judge leases: a slot of the judge's lane, while the cell keeps its campaign slot and has given its subject's lane
 * back. A judge holds nothing another judge waits for but its slot, and while it holds that it waits for requests only:
 * so no order of judges can lock.
 */
export class JudgeLeases {
  readonly #lanes: Lanes
  readonly #leases: CellLeases
  readonly #budgets: Budgets
  readonly #judges = new Map<number, Judge>()
  readonly #byCell = new Map<string, Set<Judge>>()
  readonly #waiting = new Map<Lane | null, Heap<Judge>>()
  /** How many wait, by campaign and lane. */
  readonly #counts = new Map<string, Map<Lane, number>>()
  /** Judges whose money no hold covers; the budgets have not enough. */
  #short: Judge[] = []
  #stopped: StatusReason | null = null

  constructor(lanes: Lanes, leases: CellLeases, budgets: Budgets) {
    this.#lanes = lanes
    this.#leases = leases
    this.#budgets = budgets
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** True when the cell waits for judges, and none of its judges is at work. */
  isIdle(cellId: string): boolean {
    const own = this.#byCell.get(cellId)
    if (own === undefined) return false
    for (const { state } of own) if (state !== 'waiting') return false
    return own.size > 0
  }

  /** How many wait, by lane. */
  waits(): Map<Lane, number> {
    const waits = new Map<Lane, number>()
    for (const { state, lane } of this.#judges.values()) {
      if (state === 'waiting' && lane !== null) waits.set(lane, (waits.get(lane) ?? 0) + 1)
    }
    return waits
  }

  /** Who waits in which lane; a lane that has room lets them wait for money alone. */
  *whoWaits(now: number): Generator<Waiting> {
    for (const [campaignId, lanes] of this.#counts) {
      for (const [{ name, quota }, count] of lanes) {
        if (count === 0) continue
        const kind = quota.hasRoom(now) ? 'budget' : quota.holdAt(now) === null ? 'slots' : 'hold'
        yield { campaignId, lane: name, kind }
      }
    }
  }

  #count({ lane, lease }: Judge, by: 1 | -1): void {
    if (lane === null) return
    const campaignId = lease.rank[3]
    const lanes = this.#counts.get(campaignId) ?? new Map<Lane, number>()
    this.#counts.set(campaignId, lanes)
    lanes.set(lane, (lanes.get(lane) ?? 0) + by)
  }

  /** @returns what is wrong with the ask, or null */
  ask(id: number, { cellId, lane }: JudgeRequest, now: number, effects: GovernorEffect[]): string | null {
    if (this.#judges.has(id)) return `judge lease ${id} was asked for twice (second time by cell ${cellId})`
    const lease = this.#leases.held(cellId)
    if (lease === null) return `cell ${cellId} asked for a judge and holds no lease`
    this.#leases.subjectDone(cellId)
    if (this.#stopped !== null) {
      effects.push({ type: 'judge-refused', judgeId: id, reason: this.#stopped, waitedMs: 0 })
      return null
    }
    const at = lane === null ? null : this.#lanes.named(lane)
    const judge: Judge = { id, cellId, lease, lane: at, laneName: lane, askedAt: now, state: 'waiting' }
    this.#judges.set(id, judge)
    let own = this.#byCell.get(cellId)
    if (own === undefined) {
      own = new Set()
      this.#byCell.set(cellId, own)
    }
    own.add(judge)
    this.#count(judge, 1)
    this.#enqueue(judge)
    return null
  }

  /** @returns what is wrong with the release, or null */
  release(id: number): string | null {
    const judge = this.#judges.get(id)
    if (judge === undefined) return `judge lease ${id} was released twice, was forgotten, was refused or never existed`
    this.#remove(judge)
    return null
  }

  /** The cell is over or gone: so are its judges. */
  forget(cellId: string): void {
    if (this.#judges.size === 0) return
    for (const judge of this.#byCell.get(cellId) ?? []) this.#remove(judge)
  }

  stop(reason: StatusReason, now: number, effects: GovernorEffect[]): void {
    this.#stopped ??= reason
    for (const judge of [...this.#judges.values()].sort(byRank)) {
      if (judge.state === 'waiting') this.#refuse(judge, { reason }, now, effects)
    }
  }

  admit(now: number, effects: GovernorEffect[]): void {
    // That the last of them is stuck too may be what lets it have the rest: with nobody to wait for, it is not waited.
    do this.#admitOnce(now, effects)
    while (this.#short.some((judge) => judge.state === 'waiting' && this.#isPaid(judge)))
  }

  /** Whether its money is there now. */
  #isPaid({ cellId, laneName, lane }: Judge): boolean {
    const claim = this.#budgets.claimJudge(cellId, laneName)
    return (claim === null || claim.kind === 'covered') && (lane === null || closureOf(lane) === null)
  }

  #admitOnce(now: number, effects: GovernorEffect[]): void {
    const short = this.#short
    this.#short = []
    for (const judge of short) if (judge.state === 'waiting') this.#enqueue(judge)
    for (const [lane, heap] of this.#waiting) {
      for (let judge = heap.peek(); judge !== undefined; judge = heap.peek()) {
        if (judge.state === 'waiting') {
          const closure = lane === null ? null : closureOf(lane)
          if (closure !== null) this.#refuse(judge, closure, now, effects)
          else if (lane !== null && !lane.quota.hasRoom(now)) break
          else this.#pay(judge, now, effects)
        }
        heap.pop()
      }
      if (heap.size === 0) this.#waiting.delete(lane)
    }
    this.#refuseShort(now, effects)
  }

  #pay(judge: Judge, now: number, effects: GovernorEffect[]): void {
    const claim = this.#budgets.claimJudge(judge.cellId, judge.laneName)
    if (claim !== null && claim.kind !== 'covered') {
      this.#short.push(judge)
      this.#budgets.stuck(judge.cellId, 'judge', true)
      return
    }
    if (claim !== null) this.#budgets.openJudge(judge.cellId, claim)
    judge.state = 'held'
    this.#count(judge, -1)
    this.#unstick(judge)
    if (judge.lane !== null) {
      judge.lane.cells++
      judge.lane.quota.cells++
    }
    effects.push({ type: 'judge-granted', judgeId: judge.id, waitedMs: now - judge.askedAt })
  }

  /** Refuses the judges that nobody in flight can free money for: the last in rank first, it may do for the others. */
  #refuseShort(now: number, effects: GovernorEffect[]): void {
    while (this.#short.length > 0) {
      this.#short.sort(byRank)
      const last = this.#short.findLast(({ cellId, laneName }) => {
        const claim = this.#budgets.claimJudge(cellId, laneName)
        return claim?.kind === 'short' && !claim.scope.mayFree
      })
      if (last === undefined) return
      this.#short = this.#short.filter((judge) => judge !== last)
      const detail = 'the budget has not enough left for this judge; the output is kept and can be scored later'
      this.#refuse(last, { reason: 'budget', detail }, now, effects)
    }
  }

  #enqueue(judge: Judge): void {
    let heap = this.#waiting.get(judge.lane)
    if (heap === undefined) {
      heap = new Heap(byRank)
      this.#waiting.set(judge.lane, heap)
    }
    heap.push(judge)
  }

  #refuse(judge: Judge, why: { reason: StatusReason; detail?: string }, now: number, effects: GovernorEffect[]): void {
    this.#remove(judge)
    effects.push({ type: 'judge-refused', judgeId: judge.id, waitedMs: now - judge.askedAt, ...why })
  }

  #remove(judge: Judge): void {
    this.#judges.delete(judge.id)
    const own = this.#byCell.get(judge.cellId)
    own?.delete(judge)
    if (own?.size === 0) this.#byCell.delete(judge.cellId)
    if (judge.state === 'held' && judge.lane !== null) {
      judge.lane.cells--
      judge.lane.quota.cells--
    }
    if (judge.state === 'waiting') this.#count(judge, -1)
    judge.state = 'gone'
    this.#unstick(judge)
  }

  /** The cell is stuck no longer when none of its judges waits for money. */
  #unstick(judge: Judge): void {
    const others = this.#short.some(
      (other) => other !== judge && other.cellId === judge.cellId && other.state === 'waiting',
    )
    if (!others) this.#budgets.stuck(judge.cellId, 'judge', false)
  }
}
