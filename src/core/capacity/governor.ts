import { Budgets, type Priced } from './budgets.ts'
import {
  type Budget,
  type Clock,
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
  InvalidEventError,
} from './events.ts'
import { JudgeLeases } from './judges.ts'
import { type LaneTraffic, LaneTrafficCounts } from './lane-traffic.ts'
import { closureOf, Lanes } from './lanes.ts'
import { CellLeases } from './leases.ts'
import { type CapacityOptions, DEFAULT_CELLS, parseCapacityOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { RequestPermits } from './permits.ts'
import type { GovernorSnapshot, LaneSnapshot } from './snapshot.ts'

export type {
  Budget,
  Clock,
  Governor,
  GovernorEffect,
  GovernorEvent,
  LeaseRequest,
} from './events.ts'
export { InvalidEventError } from './events.ts'
export type { CapacityOptions } from './options.ts'

export interface GovernorSettings {
  /** The run's budget; default: none. */
  readonly budget?: Budget
  /** Whether the price list has a price for a lane; asked under a budget only. Default: it has. */
  readonly priced?: Priced
  /**
   * True (default): an event that cannot be true throws when its batch is decided. False: it is skipped with a
   * `warning` effect.
   */
  readonly strict?: boolean
}

/**
 * @param clock milliseconds; read once per call
 * @throws TypeError when an option is not one, naming its path
 */
export function createGovernor(options: CapacityOptions, clock: Clock, settings: GovernorSettings = {}): Governor {
  const { cells: cap = DEFAULT_CELLS, lanes: limits = [] } = parseCapacityOptions(options)
  const { budget = null, priced = () => true, strict = true } = settings
  const lanes = new Lanes(limits)
  const budgets = new Budgets(budget, priced, lanes)
  const traffic = new LaneTrafficCounts()
  const permits = new RequestPermits(lanes, budgets, traffic)
  const leases = new CellLeases(cap, lanes, budgets)
  const judges = new JudgeLeases(lanes, leases, budgets)
  let stopped = false

  function apply(event: GovernorEvent, now: number, effects: GovernorEffect[]): string | null {
    switch (event.type) {
      case 'ask-lease':
        return leases.ask(event.request, now, effects)
      case 'release-lease': {
        const cellId = leases.cellOf(event.leaseId)
        if (cellId !== null) judges.forget(cellId)
        return leases.release(event.leaseId)
      }
      case 'served':
        leases.giveBackLane(event.cellId)
        budgets.served(event.cellId)
        return null
      case 'subject-done':
        return leases.subjectDone(event.cellId)
      case 'ask-judge':
        return judges.ask(event.judgeId, event.request, now, effects)
      case 'release-judge':
        return judges.release(event.judgeId)
      case 'ask-permit': {
        const { cellId, lane, role = 'subject' } = event.request
        if (role === 'subject') leases.sawWire(cellId, lanes.named(lane))
        return permits.ask(event.permitId, event.request, leases.held(cellId)?.rank[3] ?? null, now, effects)
      }
      case 'release-permit':
        return permits.release(event.permitId, event.outcome, now)
      case 'forget':
        for (const cellId of event.cellIds) {
          permits.forget(cellId, now)
          judges.forget(cellId)
          leases.forget(cellId)
        }
        return null
      case 'close-lane':
        lanes.close(lanes.named(event.lane), event.reason, event.detail)
        return null
      case 'campaign-budget':
        return budgets.add(event.campaignId, event.budget)
      case 'spent-before':
        budgets.spentBefore(event.chargedMicroUsd, event.unknownMicroUsd)
        return null
      case 'drain':
        leases.drain(event.reason, now, effects)
        return null
      case 'stop':
        stopped = true
        leases.drain(event.reason, now, effects)
        judges.stop(event.reason, now, effects)
        permits.stop(event.reason, now, effects)
        return null
    }
  }

  function tellClosed(now: number, effects: GovernorEffect[]): void {
    if (lanes.closedNow.length === 0) return
    for (const lane of lanes.closedNow) {
      const closure = closureOf(lane)
      const text = `lane ${lane.name} is closed (${closure?.reason}): ${closure?.detail}`
      effects.push({ type: 'notice', lane: lane.name, code: 'lane-closed', text })
    }
    lanes.closedNow = []
    permits.refuseClosed(now, effects)
    leases.refuseClosed(now, effects)
  }

  return {
    send(events: readonly GovernorEvent[]): GovernorEffect[] {
      const now = clock()
      const effects: GovernorEffect[] = []
      const problems: string[] = []
      traffic.advance(now)
      for (const event of events) {
        const problem = apply(event, now, effects)
        if (problem !== null) problems.push(problem)
      }
      tellClosed(now, effects)
      permits.grant(now, effects)
      // A cell whose subject is paid for is finished before another is begun.
      judges.admit(now, effects)
      permits.refuseShort((cellId) => judges.isIdle(cellId), now, effects)
      leases.admit(now, effects)
      for (const { quota } of lanes) quota.expire(now)
      traffic.waits([...leases.whoWaits(now), ...judges.whoWaits(now), ...permits.whoWaits(now)])
      if (problems.length > 0) {
        if (strict) throw new InvalidEventError(problems, effects)
        for (const text of problems) effects.push({ type: 'warning', text })
      }
      return effects
    },

    nextWake(): number | null {
      let next = permits.nextWake()
      if (!leases.isParked && !judges.isWaiting) return next
      for (const { quota } of lanes) {
        const until = quota.heldUntil
        if (until !== null) next = Math.min(next ?? until, until)
      }
      return next
    },

    traffic(campaignId: string): LaneTraffic[] {
      traffic.advance(clock())
      return traffic.of(campaignId, (name) => {
        const lane = lanes.named(name)
        const { limit, quota } = lane
        return {
          lane: name,
          account: limit?.account ?? null,
          concurrency: quota.concurrency.cap,
          closed: closureOf(lane),
        }
      })
    },

    unknownBills: (campaignId: string) => budgets.bills.unknown(campaignId),

    snapshot(): GovernorSnapshot {
      const now = clock()
      const cellsOf = leases.waits(now)
      const judgesOf = judges.waits()
      return {
        cells: { inFlight: leases.inFlight, cap, waiting: leases.waiting },
        lanes: Array.from(lanes, (lane): LaneSnapshot => {
          const { name, limit, quota, cells, requests, waitingRequests } = lane
          const waiting = cellsOf.get(lane)
          const why = [...(waiting?.causes ?? [])]
          const waitingJudges = judgesOf.get(lane) ?? 0
          if (waitingJudges > 0 && !quota.hasRoom(now)) {
            const hold = quota.holdAt(now)
            why.push(hold === null ? { kind: 'slots' } : { kind: 'hold', ...hold })
          }
          const pace = permits.waitsFor(lane, now)
          if (waitingRequests > 0 && pace !== null) why.push(pace)
          return {
            lane: name,
            account: limit?.account ?? null,
            cells,
            requests,
            cap: quota.concurrency.cap,
            concurrency: quota.concurrency.limit,
            waitingCells: waiting?.cells ?? 0,
            waitingJudges,
            waitingRequests,
            requestsPerMinute: usedOf(quota.requestsPerMinute, now),
            tokensPerMinute: usedOf(quota.tokensPerMinute, now),
            hold: quota.holdAt(now),
            closed: closureOf(lane),
            why: distinct(why),
          }
        }),
        budgets: budgets.all.map((scope) => scope.snapshot()),
        state: stopped ? 'stopped' : leases.draining === null ? 'open' : 'draining',
        draining: leases.draining,
      }
    },
  }
}

function usedOf(window: Pace | null, now: number): LaneSnapshot['requestsPerMinute'] {
  return window === null ? null : { used: window.usedAt(now), limit: window.limit }
}

function distinct<T>(values: readonly T[]): T[] {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...seen.values()]
}
