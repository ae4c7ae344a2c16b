import type { MicroUsd } from '../record/usage.ts'
import { CostKey } from './cost-key.ts'
import type { LeaseRequest } from './events.ts'
import type { Lane, Lanes } from './lanes.ts'

/** What is known of the cost of cells, by lane and role. */
export class CostKeys {
  readonly #lanes: Lanes
  readonly #keys = new Map<string, CostKey>()

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** The largest known estimate: a lane nobody knows is taken to cost no less. */
  get dearest(): MicroUsd {
    let dearest = 0
    for (const { estimate } of this.#keys.values()) dearest = Math.max(dearest, estimate ?? 0)
    return dearest
  }

  /** How many have had no first cell. */
  get unknown(): number {
    let unknown = 0
    for (const key of this.#keys.values()) if (key.estimate === null && !key.probing) unknown++
    return unknown
  }

  /** By the lane where one is declared or was seen, else by the variant. */
  ofSubject({ lane: declared, rank }: LeaseRequest, lane: Lane | null): CostKey {
    const name = declared ?? lane?.name ?? null
    return name === null ? this.#named(`${rank[3]}\n${rank[2]}`, 'subject', null, true) : this.of(name, 'subject')
  }

  of(lane: string | null, role: 'subject' | 'judge'): CostKey {
    return this.#named(`${role} ${lane ?? ''}`, role, lane, false)
  }

  #named(name: string, role: 'subject' | 'judge', lane: string | null, isVariant: boolean): CostKey {
    let key = this.#keys.get(name)
    if (key === undefined) {
      const { price, usdPerCell } = (lane === null ? undefined : this.#lanes.limitOf(lane)) ?? {}
      const declared = usdPerCell === undefined ? null : Math.ceil(usdPerCell * 1_000_000)
      const who = `its ${role}${lane === null ? '' : ` (${lane})`}`
      key = new CostKey(who, declared, price === 0, isVariant)
      this.#keys.set(name, key)
    }
    return key
  }
}
