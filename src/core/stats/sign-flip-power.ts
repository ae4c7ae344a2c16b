import { type PhiloxKey, philox } from './philox.ts'
import type { PowerTarget } from './power.ts'
import { tQuantile } from './student-t.ts'

const DRAWS = 4_000
const KEY: PhiloxKey = [0, 0]
/** Counter word that no resample of a campaign uses. */
const STREAM = 0x706f7772
/** Units whose subsets are enumerated for each draw. */
const MOST_UNITS = 12

const known = new Map<string, number | null>()

/**
 * Smallest effect, in standard deviations of the differences, that few units show with the wanted power where the t
 * interval and the exact two-sided sign-flip test must both show it; null where no effect can, because even all units of
 * one sign are not rare enough (p = 2^(1−n)). At n = 6 and α = .05 it is 1.8 where t alone would need 1.4.
 *
 * Normal differences, {@link DRAWS} of them, the same in every process: the power at the result is right to about half a
 * point. For a draw z the smallest effect is known exactly: shifted by e, the pattern that turns the subset N reaches the
 * observed sum where the mean of −z over N is at least e, so p(e) = (1 + #{N: mean ≥ e}) / 2^(n−1).
 *
 * @throws RangeError below two units or beyond {@link MOST_UNITS}
 */
export function signFlipMde(n: number, { power, alpha }: PowerTarget): number | null {
  if (!(Number.isInteger(n) && n >= 2 && n <= MOST_UNITS)) {
    throw new RangeError(`the power of an enumerated sign-flip test needs 2 to ${MOST_UNITS} units, not ${n}`)
  }
  const name = `${n} ${power} ${alpha}`
  const before = known.get(name)
  if (before !== undefined) return before
  const patterns = Math.floor(alpha * 2 ** (n - 1) * (1 + 1e-12))
  const found = patterns < 1 ? null : quantileOfEffects(n, power, alpha, patterns)
  known.set(name, found)
  return found
}

function quantileOfEffects(n: number, power: number, alpha: number, patterns: number): number {
  const t = tQuantile(1 - alpha / 2, n - 1)
  const z = new Float64Array(n)
  const sums = new Float64Array(2 ** n)
  const sizes = new Uint8Array(2 ** n)
  const largest = new Float64Array(patterns)
  const effects = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    normals(z, draw)
    let mean = 0
    for (const value of z) mean += value / n
    let squares = 0
    for (const value of z) squares += (value - mean) ** 2
    const byT = (t * Math.sqrt(squares / (n - 1))) / Math.sqrt(n) - mean
    largest.fill(Number.NEGATIVE_INFINITY)
    for (let subset = 1; subset < 2 ** n; subset++) {
      const rest = subset & (subset - 1)
      sums[subset] = (sums[rest] ?? 0) - (z[31 - Math.clz32(subset ^ rest)] ?? 0)
      sizes[subset] = (sizes[rest] ?? 0) + 1
      insert(largest, (sums[subset] ?? 0) / (sizes[subset] ?? 1))
    }
    effects[draw] = Math.max(byT, largest[patterns - 1] ?? 0)
  }
  return effects.sort()[Math.min(DRAWS - 1, Math.ceil(power * DRAWS) - 1)] ?? 0
}

/** Keeps the largest values, largest first. */
function insert(largest: Float64Array, value: number): void {
  let at = largest.length
  while (at > 0 && value > (largest[at - 1] ?? 0)) {
    if (at < largest.length) largest[at] = largest[at - 1] ?? 0
    at--
  }
  if (at < largest.length) largest[at] = value
}

/** Standard normal numbers by Box & Muller. */
function normals(out: Float64Array, draw: number): void {
  const words = new Uint32Array(4)
  for (let i = 0; i < out.length; i += 2) {
    philox(words, i >>> 1, draw, STREAM, 0, KEY)
    const radius = Math.sqrt(-2 * Math.log(((words[0] ?? 0) + 0.5) / 2 ** 32))
    const angle = 2 * Math.PI * ((words[1] ?? 0) / 2 ** 32)
    out[i] = radius * Math.cos(angle)
    if (i + 1 < out.length) out[i + 1] = radius * Math.sin(angle)
  }
}
