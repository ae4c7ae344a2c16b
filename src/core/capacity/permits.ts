import type { StatusReason } from '../record/status.ts'
import type { Budgets } from './budgets.ts'
import type { Call } from './cell-money.ts'
import type { GovernorEffect, PermitOutcome, PermitRequest } from './events.ts'
import { Heap } from './heap.ts'
import type { LaneTrafficCounts, Waiting } from './lane-traffic.ts'
import { closureOf, type Lane, type Lanes } from './lanes.ts'
import { learn } from './outcome.ts'
import { LEAVE_WITHIN_MS } from './pace.ts'
import type { Quota } from './quota.ts'
import type { WaitCause } from './snapshot.ts'
import { Turns } from './turns.ts'
import { reportedOf, tokensOf } from './weight.ts'
import type { Use } from './window.ts'

interface Permit {
  readonly id: number
  readonly cellId: string
  readonly request: PermitRequest
  readonly lane: Lane
  /** Of its cell. */
  readonly campaignId: string | null
  readonly askedAt: number
  /** A retry may not leave before. */
  readonly dueAt: number
  state: 'waiting' | 'held' | 'gone'
  granted: Grant | null
}

interface Grant {
  readonly age: number
  readonly request: Use | null
  readonly tokens: Use | null
  readonly call: Call | null
}

/** Request permits: concurrency, pace and holds of the wire lane; the cells of a quota are served in turn. */
export class RequestPermits {
  readonly #lanes: Lanes
  readonly #budgets: Budgets
  readonly #traffic: LaneTrafficCounts
  readonly #permits = new Map<number, Permit>()
  readonly #byCell = new Map<string, Set<Permit>>()
  readonly #lines = new Map<Quota, Turns<Permit>>()
  /** Retries that wait out their own delay. */
  readonly #delayed = new Heap<Permit>((a, b) => a.dueAt - b.dueAt || a.id - b.id)
  /** When the last of them in a lane is over. */
  readonly #dueAt = new Map<Lane, number>()
  /** Quotas where something may have become grantable since the last grant. */
  readonly #touched = new Set<Quota>()
  /** How many wait, by campaign and lane. */
  readonly #waiting = new Map<string, Map<Lane, number>>()
  /** Quotas where time alone frees something, and when. */
  readonly #wakes = new Map<Quota, number>()
  /** Requests that could go but for their money. */
  #short: Permit[] = []
  #stopped: StatusReason | null = null

  constructor(lanes: Lanes, budgets: Budgets, traffic: LaneTrafficCounts) {
    this.#lanes = lanes
    this.#budgets = budgets
    this.#traffic = traffic
  }

  /** Who waits in which lane. */
  *whoWaits(now: number): Generator<Waiting> {
    for (const [campaignId, lanes] of this.#waiting) {
      for (const [lane, count] of lanes) {
        const cause = count === 0 ? null : this.waitsFor(lane, now)
        if (cause !== null) yield { campaignId, lane: lane.name, kind: cause.kind }
      }
    }
  }

  #count({ campaignId, lane }: Permit, by: 1 | -1): void {
    lane.waitingRequests += by
    if (campaignId === null) return
    const lanes = this.#waiting.get(campaignId) ?? new Map<Lane, number>()
    this.#waiting.set(campaignId, lanes)
    lanes.set(lane, (lanes.get(lane) ?? 0) + by)
  }

  /**
   * @param campaignId of the cell
   * @returns what is wrong with the ask, or null
   */
  ask(
    id: number,
    request: PermitRequest,
    campaignId: string | null,
    now: number,
    effects: GovernorEffect[],
  ): string | null {
    const { cellId } = request
    if (this.#permits.has(id)) return `permit ${id} was asked for twice (second time by cell ${cellId})`
    const lane = this.#lanes.named(request.lane)
    const delay = request.delayMs ?? 0
    const dueAt = delay > 0 && Number.isFinite(delay) ? now + delay : now
    const permit: Permit = {
      id,
      cellId,
      request,
      lane,
      campaignId,
      askedAt: now,
      dueAt,
      state: 'waiting',
      granted: null,
    }
    const refusal = this.#refusalOf(permit) ?? this.#unpriced(permit)
    if (refusal !== null) {
      effects.push({ type: 'permit-refused', permitId: id, waitedMs: 0, ...refusal })
      return null
    }
    this.#permits.set(id, permit)
    let own = this.#byCell.get(cellId)
    if (own === undefined) {
      own = new Set()
      this.#byCell.set(cellId, own)
    }
    own.add(permit)
    this.#count(permit, 1)
    if (dueAt > now) {
      this.#delayed.push(permit)
      this.#dueAt.set(lane, Math.max(dueAt, this.#dueAt.get(lane) ?? 0))
    } else this.#enqueue(permit)
    return null
  }

  /** @returns what is wrong with the release, or null */
  release(id: number, outcome: PermitOutcome | undefined, now: number): string | null {
    const permit = this.#permits.get(id)
    if (permit === undefined) return `permit ${id} was released twice, was forgotten, was refused or never existed`
    this.#remove(permit, outcome, now)
    return null
  }

  forget(cellId: string, now: number): void {
    for (const permit of this.#byCell.get(cellId) ?? []) this.#remove(permit, undefined, now)
  }

  /** Something about the quota changed that may let requests go. */
  touch(quota: Quota): void {
    this.#touched.add(quota)
  }

  /** Refuses every permit that waits for a closed lane. */
  refuseClosed(now: number, effects: GovernorEffect[]): void {
    this.#refuse(({ lane }) => closureOf(lane) !== null, now, effects)
  }

  stop(reason: StatusReason, now: number, effects: GovernorEffect[]): void {
    this.#stopped ??= reason
    this.#refuse(() => true, now, effects)
  }

  grant(now: number, effects: GovernorEffect[]): void {
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (next.state !== 'gone' && next.dueAt > now) break
      this.#delayed.pop()
      if (next.state === 'waiting') this.#enqueue(next)
    }
    const short = this.#short
    this.#short = []
    for (const permit of short) if (permit.state === 'waiting') this.#enqueue(permit)
    for (const [quota, at] of this.#wakes) if (at <= now) this.#touched.add(quota)
    for (const quota of this.#touched) {
      this.#wakes.delete(quota)
      const line = this.#lines.get(quota)
      if (line === undefined) continue
      for (let permit = line.peek(); permit !== undefined; permit = line.peek()) {
        const cause = this.#causeOf(permit, now)
        if (cause !== null) {
          if ('until' in cause) this.#wakes.set(quota, cause.until)
          break
        }
        line.shift()
        if (this.#isShort(permit)) this.#short.push(permit)
        else this.#grantOne(permit, now, effects)
      }
    }
    this.#touched.clear()
    for (const { cellId } of short) this.#stick(cellId)
  }

  /**
   * A request that may cost more than its budget has does not leave. One that nobody can free money for is refused.
   *
   * @param isIdle whether a cell waits for judge leases alone: what it waits for may be what we hold
   */
  refuseShort(isIdle: (cellId: string) => boolean, now: number, effects: GovernorEffect[]): void {
    if (this.#short.length === 0) return
    for (const { cellId } of this.#short) this.#stick(cellId)
    // The last first: what its cell holds may do for the others.
    for (const permit of [...this.#short].sort((a, b) => b.id - a.id)) {
      const shortage = this.#budgets.shortOf(permit.cellId, permit.request, permit.lane)
      if (shortage === null) continue
      const { scope, never } = shortage
      if (!never && (this.#hasCalls(permit.cellId) || this.#budgets.goesOn(scope, isIdle))) continue
      this.#short = this.#short.filter((other) => other !== permit)
      this.#budgets.refused(permit.cellId, permit.request, shortage)
      this.#remove(permit, undefined, now)
      this.#stick(permit.cellId)
      const { detail } = shortage
      const waitedMs = now - permit.askedAt
      effects.push({ type: 'permit-refused', permitId: permit.id, reason: 'budget', waitedMs, detail })
    }
  }

  /** A cell waits for money, and has no request in flight whose bill may free some. */
  #stick(cellId: string): void {
    const waits = this.#short.some((permit) => permit.cellId === cellId)
    this.#budgets.stuck(cellId, 'request', waits && !this.#hasCalls(cellId))
  }

  #hasCalls(cellId: string): boolean {
    for (const { state } of this.#byCell.get(cellId) ?? []) if (state === 'held') return true
    return false
  }

  #isShort({ cellId, request, lane }: Permit): boolean {
    return this.#budgets.shortOf(cellId, request, lane) !== null
  }

  /** What the next request of this lane's quota waits for; null when none waits. */
  waitsFor(lane: Lane, now: number): WaitCause | null {
    const permit = this.#lines.get(lane.quota)?.peek()
    if (permit !== undefined) return this.#causeOf(permit, now)
    const short = this.#short.find((one) => one.lane === lane)
    const dueAt = this.#dueAt.get(lane) ?? 0
    if (short === undefined && lane.waitingRequests > 0 && dueAt > now) {
      return { kind: 'hold', ...(lane.quota.holdAt(now) ?? { until: dueAt, reason: 'a request that is made again' }) }
    }
    const shortage = short === undefined ? null : this.#budgets.shortOf(short.cellId, short.request, lane)
    if (shortage === null) return null
    const { campaignId } = shortage.scope
    return { kind: 'budget', budget: campaignId === null ? 'run' : { campaignId } }
  }

  nextWake(): number | null {
    let next: number | null = null
    for (const at of this.#wakes.values()) next = next === null ? at : Math.min(next, at)
    const delayed = this.#delayed.peek()
    return delayed === undefined ? next : Math.min(next ?? delayed.dueAt, delayed.dueAt)
  }

  #enqueue(permit: Permit): void {
    const { quota } = permit.lane
    let line = this.#lines.get(quota)
    if (line === undefined) {
      line = new Turns()
      this.#lines.set(quota, line)
    }
    line.push(permit)
    this.#touched.add(quota)
  }

  #causeOf({ request, lane }: Permit, now: number): WaitCause | null {
    const { quota } = lane
    const hold = quota.holdAt(now)
    if (hold !== null) return { kind: 'hold', ...hold }
    if (quota.requests >= quota.concurrency.limit) return { kind: 'slots' }
    const { requestsPerMinute: requests, tokensPerMinute: tokens } = quota
    let until = requests?.waitsUntil(1, now) ?? null
    const forTokens = tokens?.waitsUntil(tokensOf(request, lane), now) ?? null
    if (forTokens !== null) until = Math.max(until ?? 0, forTokens)
    return until === null ? null : { kind: 'pace', until }
  }

  #grantOne(permit: Permit, now: number, effects: GovernorEffect[]): void {
    const { id, cellId, request, lane, askedAt } = permit
    const { quota } = lane
    permit.state = 'held'
    this.#count(permit, -1)
    if (permit.campaignId !== null) this.#traffic.granted(permit.campaignId, lane.name)
    lane.requests++
    quota.requests++
    const weight = quota.tokensPerMinute === null ? 0 : tokensOf(request, lane)
    if (quota.tokensPerMinute !== null && weight > quota.tokensPerMinute.limit) {
      const text = `a request of about ${weight} tokens is larger than the lane's ${quota.tokensPerMinute.limit} tokens per minute: it was sent alone, and the provider may refuse it`
      effects.push({ type: 'notice', lane: lane.name, code: 'request-over-limit', text })
    }
    permit.granted = {
      age: quota.concurrency.grant(),
      request: quota.requestsPerMinute?.take(1, now) ?? null,
      tokens: quota.tokensPerMinute?.take(weight, now) ?? null,
      call: this.#budgets.call(cellId, request, lane),
    }
    const isPaced = quota.requestsPerMinute !== null || quota.tokensPerMinute !== null
    const soon = isPaced ? { leaveWithinMs: LEAVE_WITHIN_MS } : null
    effects.push({ type: 'permit-granted', permitId: id, waitedMs: now - askedAt, ...soon })
  }

  #refusalOf({ lane }: Permit): { reason: StatusReason; detail?: string } | null {
    if (this.#stopped !== null) return { reason: this.#stopped }
    return closureOf(lane)
  }

  /** Under a budget for all, a lane without a price is closed: what waits for it is told at once. */
  #unpriced({ cellId, lane, request }: Permit): { reason: StatusReason; detail?: string } | null {
    const detail = this.#budgets.whyUnpriced(cellId, lane, request.boundMicroUsd ?? null)
    if (detail === null) return null
    if (this.#budgets.bindsAll) this.#lanes.close(lane, 'budget', detail)
    return { reason: 'budget', detail }
  }

  #refuse(which: (permit: Permit) => boolean, now: number, effects: GovernorEffect[]): void {
    for (const permit of [...this.#permits.values()]) {
      if (permit.state !== 'waiting' || !which(permit)) continue
      const refusal = this.#refusalOf(permit)
      if (refusal === null) continue
      this.#remove(permit, undefined, now)
      effects.push({ type: 'permit-refused', permitId: permit.id, waitedMs: now - permit.askedAt, ...refusal })
    }
  }

  #remove(permit: Permit, outcome: PermitOutcome | undefined, now: number): void {
    const { lane, granted } = permit
    this.#permits.delete(permit.id)
    const own = this.#byCell.get(permit.cellId)
    own?.delete(permit)
    if (own?.size === 0) this.#byCell.delete(permit.cellId)
    permit.state = 'gone'
    this.#touched.add(lane.quota)
    if (granted === null) {
      this.#count(permit, -1)
      return
    }
    if (permit.campaignId !== null) this.#traffic.ended(permit.campaignId, lane.name, outcome?.result)
    lane.requests--
    lane.quota.requests--
    this.#settle(lane, granted, outcome, now)
  }

  #settle(lane: Lane, granted: Grant, outcome: PermitOutcome | undefined, now: number): void {
    const { quota } = lane
    const unsent = outcome?.result.kind === 'unsent'
    const tokens = reportedOf(outcome)
    if (unsent) {
      if (granted.request !== null) quota.requestsPerMinute?.unsent(granted.request, now)
      if (granted.tokens !== null) quota.tokensPerMinute?.unsent(granted.tokens, now)
    } else if (granted.tokens !== null && tokens !== null) {
      quota.tokensPerMinute?.correct(granted.tokens, tokens.input + tokens.output, now)
    }
    if (tokens !== null && tokens.output > 0) lane.largestOutput = Math.max(lane.largestOutput ?? 0, tokens.output)
    if (granted.call !== null) this.#budgets.charge(granted.call, unsent ? 0 : (outcome?.microUsd ?? null))
    if (outcome !== undefined) learn(this.#lanes, lane, outcome.result, granted.age, now)
  }
}
