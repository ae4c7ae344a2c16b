/** A linear or logarithmic axis over a part of the numbers, in percent of the chart's width. */
export interface Axis {
  /** 0 to 100, with two decimals; beyond the ends it stays at them. */
  at(value: number): number
  readonly from: number
  readonly to: number
  /** Round numbers inside it, at most five. */
  readonly ticks: readonly number[]
}

/**
 * An axis that holds all of these numbers with some room beside them.
 *
 * @param least it begins at or above: nothing lies below
 */
export function linearAxis(values: readonly number[], room = 0.06, least = Number.NEGATIVE_INFINITY): Axis {
  const known = values.filter(Number.isFinite)
  const low = known.length === 0 ? 0 : Math.min(...known)
  const high = known.length === 0 ? 1 : Math.max(...known)
  const span = high - low || Math.abs(high) || 1
  const from = Math.max(least, low - span * room)
  const to = high + span * room
  return { from, to, at: placing((value) => (value - from) / (to - from)), ticks: roundNumbers(from, to) }
}

/** An axis of times or amounts that differ by powers of ten; numbers must be above 0. */
export function logarithmicAxis(values: readonly number[]): Axis {
  const known = values.filter((value) => Number.isFinite(value) && value > 0).map(Math.log10)
  const low = known.length === 0 ? 0 : Math.min(...known)
  const high = known.length === 0 ? 1 : Math.max(...known)
  const room = (high - low) * 0.04 || 0.2
  const [from, to] = [low - room, high + room]
  return {
    from: 10 ** from,
    to: 10 ** to,
    at: placing((value) => (value <= 0 ? 0 : (Math.log10(value) - from) / (to - from))),
    ticks: powers(from, to),
  }
}

const placing =
  (share: (value: number) => number) =>
  (value: number): number =>
    Math.round(Math.min(1, Math.max(0, share(value))) * 10_000) / 100

const MOST = 5

function roundNumbers(from: number, to: number): number[] {
  const rough = (to - from) / MOST
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  const ticks: number[] = []
  for (let i = Math.ceil(from / step); i * step <= to && ticks.length < MOST + 1; i++) {
    // Without the noise of the multiplication: 0.30000000000000004 is no label.
    ticks.push(Number((i * step).toPrecision(12)))
  }
  return ticks
}

function powers(from: number, to: number): number[] {
  const fine = to - from < 2 ? [1, 2, 5] : [1]
  const ticks: number[] = []
  for (let power = Math.floor(from); power <= Math.ceil(to); power++) {
    for (const factor of fine) {
      const tick = factor * 10 ** power
      if (Math.log10(tick) >= from && Math.log10(tick) <= to) ticks.push(Number(tick.toPrecision(6)))
    }
  }
  const every = Math.ceil(ticks.length / MOST)
  return ticks.filter((_, i) => i % every === 0)
}
