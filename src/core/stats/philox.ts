import { canonicalJson } from '../campaign/canonical-json.ts'
import { sha256Hex } from '../campaign/identity.ts'

export type PhiloxKey = readonly [number, number]

const MULTIPLIER_0 = 0xd2511f53
const MULTIPLIER_1 = 0xcd9e8d57
const WEYL_0 = 0x9e3779b9
const WEYL_1 = 0xbb67ae85
const ROUNDS = 10

/**
 * High 32 bits of the product of two unsigned 32-bit numbers, given its low ones: the rounded double is off by at most
 * 2^11 (half an ulp below 2^64, twice), so what is left after taking the low bits away rounds to the exact quotient.
 */
function highProduct(a: number, b: number, low: number): number {
  return Math.floor((a * b - low) * 2 ** -32 + 0.5)
}

/**
 * `philox4x32-10` (Salmon et al. 2011): four random 32-bit words as a function of counter and key. Integer arithmetic
 * only, so every engine gives the same bits, and any resample is addressable without drawing those before it.
 *
 * @param out receives the four words
 */
export function philox(out: Uint32Array, c0: number, c1: number, c2: number, c3: number, key: PhiloxKey): void {
  let x0 = c0 >>> 0
  let x1 = c1 >>> 0
  let x2 = c2 >>> 0
  let x3 = c3 >>> 0
  let k0 = key[0] >>> 0
  let k1 = key[1] >>> 0
  for (let round = 0; round < ROUNDS; round++) {
    const low0 = Math.imul(MULTIPLIER_0, x0) >>> 0
    const high0 = highProduct(MULTIPLIER_0, x0, low0)
    const low1 = Math.imul(MULTIPLIER_1, x2) >>> 0
    const high1 = highProduct(MULTIPLIER_1, x2, low1)
    x0 = (high1 ^ x1 ^ k0) >>> 0
    x1 = low1
    x2 = (high0 ^ x3 ^ k1) >>> 0
    x3 = low0
    k0 = (k0 + WEYL_0) >>> 0
    k1 = (k1 + WEYL_1) >>> 0
  }
  out[0] = x0
  out[1] = x1
  out[2] = x2
  out[3] = x3
}

/**
 * The key of a campaign's randomness: the first 64 bits of SHA-256 over campaign, scenario digests and endpoint. It
 * does not depend on the candidates, so adding one moves no other one's numbers.
 *
 * @param scenarioDigests in a fixed order
 */
export function philoxKey(campaignId: string, scenarioDigests: readonly string[], endpoint: string): PhiloxKey {
  const hex = sha256Hex(canonicalJson([campaignId, scenarioDigests, endpoint]))
  return [Number.parseInt(hex.slice(0, 8), 16), Number.parseInt(hex.slice(8, 16), 16)]
}
