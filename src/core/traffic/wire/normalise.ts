import type { TokenUsage } from '../../record/usage.ts'

/** Counts as a provider reports them, brought to our meaning: input with cache, output with reasoning. */
export type Counts = { readonly [part in keyof TokenUsage]: number | null }

/**
 * Usage in which no part exceeds its whole, or null where the counts say nothing.
 *
 * A part that exceeds its whole is a contradiction. Nobody can tell which of the two is wrong, so both go: the whole
 * because it would be billed, the part because it explains the whole.
 */
export function normalise(counts: Counts): { readonly usage: TokenUsage | null; readonly contradictory: boolean } {
  let { input, output, reasoning, cacheRead, cacheWrite } = counts
  let contradictory = false
  if (input !== null && (cacheRead ?? 0) + (cacheWrite ?? 0) > input) {
    input = cacheRead = cacheWrite = null
    contradictory = true
  }
  if (output !== null && (reasoning ?? 0) > output) {
    output = reasoning = null
    contradictory = true
  }
  if (input === null && output === null) return { usage: null, contradictory }
  return { usage: { input, output, reasoning, cacheRead, cacheWrite }, contradictory }
}
