/**
 * Tokens of one exchange or one cell. `input` includes cache reads and writes, `output` includes reasoning; a part
 * never exceeds its whole. A number nobody reported is null, never 0.
 */
export interface TokenUsage {
  readonly input: number | null
  readonly output: number | null
  readonly reasoning: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
}

export const NO_USAGE: TokenUsage = { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null }

/** What a cell used, and whether every one of its provider calls reported it. */
export interface CellTokens extends TokenUsage {
  /** True when every call that should report usage did; false makes the numbers a lower bound. */
  readonly known: boolean
}

export const COST_PROVENANCES = ['observed', 'estimated', 'uncaptured'] as const
/** `observed`: the provider stated the charge; `estimated`: tokens × list price; `uncaptured`: some call has neither. */
export type CostProvenance = (typeof COST_PROVENANCES)[number]

/** Money in integer micro-USD: sums of floats differ by the order of adding. */
export type MicroUsd = number

export const toUsd = (micro: MicroUsd): number => micro / 1_000_000
/** To the last digit that counts, two at least: rounded to cents, a small budget and what was spent of it look the same. */
export const usdText = (micro: MicroUsd): string =>
  `$${toUsd(micro)
    .toFixed(6)
    .replace(/0{1,4}$/, '')}`
export const toMicroUsd = (usd: number): MicroUsd => Math.round(usd * 1_000_000)
