import type { MicroUsd } from '../record/usage.ts'
import type { CallRole } from '../traffic/exchange.ts'
import type { Expected, ExpectedUse, Money } from './forecast.ts'

/** What one cell asked of one lane. */
export interface SeenUse {
  readonly lane: string | null
  readonly role: CallRole
  readonly calls: number
  /** Of all its calls; null where one did not say. */
  readonly tokens: number | null
  readonly ms: number | null
  readonly microUsd: MicroUsd | null
}

/** What a cell that ran before took. */
export interface SeenCell {
  readonly variantId: string
  readonly uses: readonly SeenUse[]
  /** How long it had calls open, however many at once. */
  readonly ms: number | null
}

interface Sum {
  readonly lane: string | null
  readonly role: CallRole
  calls: number
  tokenCalls: number
  tokens: number
  msCalls: number
  ms: number
}

/**
 * What these cells lead to expect of others like them; null without any.
 *
 * @param roles the calls that will be made: of an output that stays, those of its judges alone. Default: all
 */
export function expectedOf(cells: readonly SeenCell[], roles?: readonly CallRole[]): Expected | null {
  if (cells.length === 0) return null
  const sums = new Map<string, Sum>()
  const bills: number[] = []
  let ms: number | null = 0
  for (const cell of cells) {
    const uses = roles === undefined ? cell.uses : cell.uses.filter(({ role }) => roles.includes(role))
    const bill = uses.reduce<number | null>(
      (sum, { microUsd }) => (sum === null || microUsd === null ? null : sum + microUsd),
      0,
    )
    // A cell whose bill nobody knows says nothing of what others cost.
    if (bill !== null) bills.push(bill)
    // The time of a part of the calls is not in a cell's time: their own sum is, unless they ran beside each other.
    const own = uses.length === cell.uses.length ? cell.ms : null
    ms = ms === null || own === null ? null : ms + own
    for (const { lane, role, calls, tokens, ms } of uses) {
      const key = JSON.stringify([lane, role])
      const sum = sums.get(key) ?? { lane, role, calls: 0, tokenCalls: 0, tokens: 0, msCalls: 0, ms: 0 }
      sums.set(key, sum)
      sum.calls += calls
      if (tokens !== null) {
        sum.tokenCalls += calls
        sum.tokens += tokens
      }
      if (ms !== null) {
        sum.msCalls += calls
        sum.ms += ms
      }
    }
  }
  return {
    uses: Array.from(sums.values(), (sum) => useOf(sum, cells.length)),
    microUsd: moneyOf(bills),
    msPerCell: ms === null ? null : ms / cells.length,
  }
}

function useOf({ lane, role, calls, tokenCalls, tokens, msCalls, ms }: Sum, cells: number): ExpectedUse {
  return {
    lane,
    role,
    callsPerCell: calls / cells,
    tokensPerCall: tokenCalls === 0 ? null : tokens / tokenCalls,
    msPerCall: msCalls === 0 ? null : ms / msCalls,
  }
}

function moneyOf(bills: readonly number[]): Money | null {
  if (bills.length === 0) return null
  let [low, sum, high] = [Number.POSITIVE_INFINITY, 0, 0]
  for (const bill of bills) {
    low = Math.min(low, bill)
    high = Math.max(high, bill)
    sum += bill
  }
  return { low, mean: sum / bills.length, high }
}

/** How long at least one of them was open, milliseconds; null where one has no end. */
export function openMs(spans: readonly { readonly start: number; readonly ms: number | null }[]): number | null {
  let open = 0
  let until = Number.NEGATIVE_INFINITY
  for (const { start, ms } of spans.toSorted((a, b) => a.start - b.start)) {
    if (ms === null) return null
    const end = start + ms
    open += Math.max(0, end - Math.max(until, start))
    until = Math.max(until, end)
  }
  return open
}
