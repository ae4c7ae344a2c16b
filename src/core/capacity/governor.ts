import {
  type Clock,
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
  type GovernorSnapshot,
  InvalidEventError,
} from './events.ts'
import { Lanes } from './lanes.ts'
import { CellLeases } from './leases.ts'
import { type CapacityOptions, DEFAULT_CELLS, parseCapacityOptions } from './options.ts'
import { RequestPermits } from './permits.ts'

export type {
  Clock,
  Governor,
  GovernorEffect,
  GovernorEvent,
  LeaseRequest,
} from './events.ts'
export { InvalidEventError } from './events.ts'
export type { CapacityOptions } from './options.ts'

/**
 * @param clock milliseconds; read once per `send`
 * @throws TypeError when an option is not one, naming its path
 */
export function createGovernor(options: CapacityOptions, clock: Clock): Governor {
  const { cells: cap = DEFAULT_CELLS, lanes: limits = [] } = parseCapacityOptions(options)
  const lanes = new Lanes(limits)
  const leases = new CellLeases(cap, lanes)
  const permits = new RequestPermits(lanes)

  function apply(event: GovernorEvent, now: number, effects: GovernorEffect[]): string | null {
    switch (event.type) {
      case 'ask-lease':
        return leases.ask(event.request, now, effects)
      case 'release-lease':
        return leases.release(event.leaseId)
      case 'ask-permit':
        return permits.ask(event.permitId, event.request, now)
      case 'release-permit':
        return permits.release(event.permitId)
      case 'forget':
        for (const cellId of event.cellIds) {
          permits.forget(cellId)
          leases.forget(cellId)
        }
        return null
      case 'drain':
        leases.drain(event.reason, now, effects)
        return null
    }
  }

  return {
    send(events: readonly GovernorEvent[]): GovernorEffect[] {
      const now = clock()
      const effects: GovernorEffect[] = []
      const problems: string[] = []
      for (const event of events) {
        const problem = apply(event, now, effects)
        if (problem !== null) problems.push(problem)
      }
      permits.grant(now, effects)
      leases.admit(now, effects)
      if (problems.length > 0) throw new InvalidEventError(problems, effects)
      return effects
    },

    snapshot(): GovernorSnapshot {
      return {
        cells: { inFlight: leases.inFlight, cap, waiting: leases.waiting },
        lanes: Array.from(lanes, ({ name, cells, requests, cap, waitingRequests }) => {
          return { lane: name, cells, requests, cap, waitingRequests }
        }),
        draining: leases.draining,
      }
    },
  }
}
