import type { StatusReason } from '../record/status.ts'
import type { Budgets, Claim } from './budgets.ts'
import type { CostKey } from './cost-key.ts'
import type { GovernorEffect, LeaseRequest } from './events.ts'
import type { Waiting } from './lane-traffic.ts'
import type { Lane, Lanes } from './lanes.ts'
import { type Ask, Line, Lines } from './line.ts'
import { compareRank } from './rank.ts'
import { type Scope, spent } from './scope.ts'
import type { WaitCause } from './snapshot.ts'

/** The lines of one campaign: by declared lane, and by variant where none is declared. */
interface CampaignLines {
  readonly byLane: Map<string, Line>
  readonly byVariant: Map<number, Line>
}

/**
 * Cell leases: a campaign slot, a slot of the declared lane and the money of the cell, taken together or not at all.
 *
 * Lines that may go stand in one order; a line that cannot is parked with what it waits for and so blocks no other.
 * Money is the exception: it goes by rank, because a dear cell passed over for cheap ones would never be measured.
 */
export class CellLeases {
  readonly #cap: number
  readonly #lanes: Lanes
  readonly #budgets: Budgets
  readonly #ready = new Lines()
  readonly #parkedFor = new Map<Lane | Scope | CostKey, Lines>()
  readonly #spending = new Map<string, CampaignLines>()
  readonly #served = new Map<string, CampaignLines>()
  readonly #byCell = new Map<string, Ask>()
  readonly #byLease = new Map<number, Ask>()
  /** Subjects that are over: no later ask may run them again. */
  readonly #settled = new Set<string>()
  #nextLease = 1
  #draining: StatusReason | null = null

  constructor(cap: number, lanes: Lanes, budgets: Budgets) {
    this.#cap = cap
    this.#lanes = lanes
    this.#budgets = budgets
  }

  get inFlight(): number {
    return this.#byLease.size
  }

  get waiting(): number {
    return this.#byCell.size - this.#byLease.size
  }

  get draining(): StatusReason | null {
    return this.#draining
  }

  /** @returns what is wrong with the ask, or null */
  ask(request: LeaseRequest, now: number, effects: GovernorEffect[]): string | null {
    const { cellId } = request
    const known = this.#byCell.get(cellId)
    if (known !== undefined) {
      return `cell ${cellId} asked for a lease while it ${known.leaseId === null ? 'waits for' : 'holds'} one`
    }
    if (this.#settled.size > 0 && this.#settled.has(cellId)) {
      return `cell ${cellId} asked for a lease, but its subject is over and is never run again`
    }
    if (this.#draining !== null) {
      effects.push({ type: 'lease-refused', cellId, reason: this.#draining, queueMs: 0 })
      return null
    }
    const line = this.#lineOf(request)
    const ask: Ask = { request, line, askedAt: now, leaseId: null, holds: null, gone: false }
    this.#byCell.set(cellId, ask)
    line.push(ask)
    if (line.place === null) this.#ready.push(line)
    else if (line.head() === ask) line.place.push(line)
    return null
  }

  /** @returns what is wrong with the release, or null */
  release(leaseId: number): string | null {
    const ask = this.#byLease.get(leaseId)
    if (ask === undefined) return `lease ${leaseId} was released twice, was forgotten or never existed`
    this.#remove(ask, false)
    return null
  }

  forget(cellId: string): void {
    const ask = this.#byCell.get(cellId)
    if (ask !== undefined) this.#remove(ask, true)
  }

  /** The cell that holds this lease, or null. */
  cellOf(leaseId: number): string | null {
    return this.#byLease.get(leaseId)?.request.cellId ?? null
  }

  /** What the cell asked for, while it holds a lease. */
  held(cellId: string): LeaseRequest | null {
    const ask = this.#byCell.get(cellId)
    return ask === undefined || ask.leaseId === null ? null : ask.request
  }

  /** @returns what is wrong with it, or null */
  subjectDone(cellId: string): string | null {
    if (this.held(cellId) === null) return `the subject of cell ${cellId} was said to be over, and it holds no lease`
    this.#settled.add(cellId)
    this.giveBackLane(cellId)
    this.#budgets.subjectDone(cellId)
    return null
  }

  giveBackLane(cellId: string): void {
    const ask = this.#byCell.get(cellId)
    if (ask !== undefined) freeSlot(ask)
  }

  /** A cell in flight sent a request in this lane. */
  sawWire(cellId: string, wire: Lane): void {
    const line = this.#byCell.get(cellId)?.line
    if (line === undefined) return
    if (line.lane === null) line.lane = wire
    else this.#lanes.saw(line.lane, wire)
  }

  drain(reason: StatusReason, now: number, effects: GovernorEffect[]): void {
    this.#draining ??= reason
    const asks = [...this.#lines()].flatMap((line) => line.drain())
    this.#parkedFor.clear()
    for (const ask of asks.sort((a, b) => compareRank(a.request, b.request))) {
      this.#refuse(ask, { reason: this.#draining }, now, effects)
    }
  }

  /** Refuses everybody who waits for a lane that is closed, whatever else they wait for. */
  refuseClosed(now: number, effects: GovernorEffect[]): void {
    for (const line of this.#lines()) {
      if (line.lane === null || line.waiting === 0) continue
      const where = this.#lanes.placeFor(line.lane, now)
      if (where === 'blocked' || !('reason' in where)) continue
      for (const ask of line.drain()) this.#refuse(ask, where, now, effects)
    }
  }

  /** Grants what fits now, best rank first among the lines that may go. */
  admit(now: number, effects: GovernorEffect[]): void {
    for (const at of this.#parkedFor.keys()) if ('quota' in at) this.#offer(at, now)
    while (this.inFlight < this.#cap) {
      if (this.#budgets.changed) this.#offerMoney(now, effects)
      const line = this.#ready.pop()
      if (line === undefined) return
      const { lane } = line
      this.#resolve(line, now, effects)
      if (lane !== null) this.#offer(lane, now)
    }
  }

  /** What the cells of each lane wait for, and how many they are. */
  waits(now: number): Map<Lane, { cells: number; causes: WaitCause[] }> {
    const waits = new Map<Lane, { cells: number; causes: WaitCause[] }>()
    for (const line of this.#lines()) {
      if (line.lane === null || line.waiting === 0) continue
      const wait = waits.get(line.lane) ?? { cells: 0, causes: [] }
      waits.set(line.lane, wait)
      wait.cells += line.waiting
      wait.causes.push(this.#causeOf(line, now))
    }
    return waits
  }

  /** Who waits in which lane. */
  *whoWaits(now: number): Generator<Waiting> {
    for (const lines of [this.#spending, this.#served]) {
      for (const [campaignId, { byLane, byVariant }] of lines) {
        for (const line of [...byLane.values(), ...byVariant.values()]) {
          if (line.lane === null || line.waiting === 0) continue
          yield { campaignId, lane: line.lane.name, kind: this.#causeOf(line, now).kind }
        }
      }
    }
  }

  /** True while cells wait that a hold's end could let go. */
  get isParked(): boolean {
    return this.#parkedFor.size > 0
  }

  #resolve(line: Line, now: number, effects: GovernorEffect[]): void {
    const ask = line.head()
    if (ask === undefined) return
    const where = line.lane === null ? null : this.#lanes.placeFor(line.lane, now)
    if (where === 'blocked') {
      this.#park(line, line.lane as Lane) // a line without a lane is never blocked by one
      return
    }
    if (where !== null && 'reason' in where) {
      for (const one of line.drain()) this.#refuse(one, where, now, effects)
      return
    }
    const claim = line.scopes.length === 0 ? null : this.#claim(ask)
    if (claim?.kind === 'short') {
      this.#park(line, claim.scope)
    } else if (claim?.kind === 'first-cell') {
      this.#park(line, claim.key)
    } else {
      line.shift()
      this.#grant(ask, where, claim, now, effects)
      this.#ready.push(line)
    }
    // The next in line for money may find some, or nobody is left who could free any.
    if (line.scopes.some((scope) => this.#parkedFor.has(scope))) this.#budgets.changed = true
  }

  #grant(ask: Ask, lane: Lane | null, claim: Claim | null, now: number, effects: GovernorEffect[]): void {
    const { request, line } = ask
    const { cellId } = request
    const leaseId = this.#nextLease++
    ask.leaseId = leaseId
    this.#byLease.set(leaseId, ask)
    if (lane !== null) {
      ask.holds = lane
      lane.cells++
      lane.quota.cells++
    }
    const queueMs = now - ask.askedAt
    const failover = lane !== null && lane !== line.lane ? { failover: lane.name } : null
    if (claim === null) {
      effects.push({ type: 'lease-granted', cellId, leaseId, queueMs, ...failover })
      return
    }
    const heldMicroUsd = this.#budgets.open(cellId, request, line.lane, line.scopes, claim)
    effects.push({ type: 'lease-granted', cellId, leaseId, queueMs, ...failover, heldMicroUsd })
  }

  /** What the budgets say; who waits for money longer by rank comes first. */
  #claim(ask: Ask): Claim {
    const { line, request } = ask
    // Of its own lane, wherever it goes: an equivalent serves the same model.
    const claim = this.#budgets.claim(request, line.lane, line.scopes)
    if (claim.kind !== 'covered' || claim.holds.every(({ amount }) => amount === 0)) return claim
    for (const scope of line.scopes) {
      const best = this.#parkedFor.get(scope)?.peek()?.head()
      if (best !== undefined && compareRank(best.request, request) < 0) {
        return { kind: 'short', scope, keys: claim.holds.map(({ key }) => key) }
      }
    }
    return claim
  }

  #offerMoney(now: number, effects: GovernorEffect[]): void {
    this.#budgets.changed = false
    for (const [at, lines] of this.#parkedFor) {
      if ('quota' in at) continue
      if (!('available' in at)) {
        if (!at.probing) this.#unpark(at, lines, Number.POSITIVE_INFINITY)
        continue
      }
      for (let line = lines.peek(); line !== undefined; line = lines.peek()) {
        const ask = line.head() as Ask // peek() gives no empty line
        const claim = this.#budgets.claim(ask.request, line.lane, line.scopes)
        if (claim.kind !== 'short') {
          this.#unpark(at, lines, 1)
          break
        }
        if (claim.scope.mayFree) break
        lines.pop()
        for (const one of line.drain()) this.#refuse(one, spent(claim.scope, claim.keys), now, effects)
      }
      if (lines.peek() === undefined) this.#parkedFor.delete(at)
    }
  }

  /** Lets the best line that waits for this lane go, if it could. */
  #offer(lane: Lane, now: number): void {
    const lines = this.#parkedFor.get(lane)
    if (lines !== undefined && this.#lanes.placeFor(lane, now) !== 'blocked') this.#unpark(lane, lines, 1)
  }

  #unpark(at: Lane | Scope | CostKey, lines: Lines, count: number): void {
    for (let i = 0; i < count; i++) {
      const line = lines.pop()
      if (line === undefined) break
      this.#ready.push(line)
    }
    if (lines.peek() === undefined) this.#parkedFor.delete(at)
  }

  #park(line: Line, at: Lane | Scope | CostKey): void {
    let lines = this.#parkedFor.get(at)
    if (lines === undefined) {
      lines = new Lines()
      this.#parkedFor.set(at, lines)
    }
    lines.push(line)
  }

  #causeOf(line: Line, now: number): WaitCause {
    for (const [at, lines] of this.#parkedFor) {
      if (lines !== line.place) continue
      if ('quota' in at) {
        const hold = at.quota.holdAt(now)
        return hold === null ? { kind: 'slots' } : { kind: 'hold', ...hold }
      }
      if (!('available' in at)) return { kind: 'first-cell' }
      return { kind: 'budget', budget: at.campaignId === null ? 'run' : { campaignId: at.campaignId } }
    }
    return { kind: 'cells' }
  }

  #refuse(ask: Ask, why: { reason: StatusReason; detail?: string }, now: number, effects: GovernorEffect[]): void {
    const { cellId } = ask.request
    this.#byCell.delete(cellId)
    effects.push({ type: 'lease-refused', cellId, queueMs: now - ask.askedAt, ...why })
  }

  #remove(ask: Ask, lost: boolean): void {
    const { cellId } = ask.request
    this.#byCell.delete(cellId)
    if (ask.leaseId === null) {
      ask.line.withdraw(ask)
      return
    }
    this.#byLease.delete(ask.leaseId)
    freeSlot(ask)
    if (ask.line.scopes.length > 0) this.#budgets.close(cellId, lost)
  }

  #lineOf(request: LeaseRequest): Line {
    const { lane, rank, spends } = request
    const lines = spends === false ? this.#served : this.#spending
    const campaignId = rank[3]
    let own = lines.get(campaignId)
    if (own === undefined) {
      own = { byLane: new Map(), byVariant: new Map() }
      lines.set(campaignId, own)
    }
    let line = lane === null ? own.byVariant.get(rank[2]) : own.byLane.get(lane)
    if (line === undefined) {
      line = new Line(lane === null ? null : this.#lanes.named(lane), this.#budgets.scopesOf(request))
      if (lane === null) own.byVariant.set(rank[2], line)
      else own.byLane.set(lane, line)
    }
    return line
  }

  *#lines(): Generator<Line> {
    for (const lines of [this.#spending, this.#served]) {
      for (const { byLane, byVariant } of lines.values()) {
        yield* byLane.values()
        yield* byVariant.values()
      }
    }
  }
}

function freeSlot(ask: Ask): void {
  if (ask.holds === null) return
  ask.holds.cells--
  ask.holds.quota.cells--
  ask.holds = null
}
