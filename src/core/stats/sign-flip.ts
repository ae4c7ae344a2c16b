import { type PhiloxKey, philox } from './philox.ts'

/** Largest number of units whose sign patterns are all enumerated. */
export const EXACT_UNITS = 20
export const RESAMPLES = 9_999
/** Statistics this close (relative to their largest possible value) are a tie, and a tie counts as "at least". */
const TIE = 1e-12
const BLOCK_BITS = 10

/** Differences of several contrasts on the same units, unit by unit: `values[unit * contrasts + contrast]`. */
export interface Differences {
  readonly units: number
  readonly contrasts: number
  readonly values: Float64Array
}

export interface SignFlipOptions {
  readonly key: PhiloxKey
  /** Third word of the counter: which test of the campaign this is. */
  readonly stream: number
  readonly resamples?: number
  /** Overrides the choice between enumeration and sampling; enumeration beyond 24 units is refused. */
  readonly method?: 'exact' | 'monte-carlo'
}

export interface SignFlip {
  /** Two-sided p of each contrast alone. */
  readonly raw: readonly number[]
  /** Step-down max-T: family-wise adjusted p. */
  readonly stepDown: readonly number[]
  readonly singleStep: readonly number[]
  readonly exact: boolean
  /** Null when enumerated. */
  readonly resamples: number | null
  /** Smallest p this design (not these data) can give. */
  readonly pFloor: number
}

/**
 * Sign-flip randomization test with T_j = |Σ_s Δ_sj| / √(Σ_s Δ_sj²). A flip turns the sign of a whole unit, the same
 * for all contrasts, so their correlation enters the adjusted p (Westfall & Young's step-down max-T).
 *
 * Exact where differences are symmetric about 0 under the null (arms exchangeable inside a scenario); otherwise an
 * asymptotic test of the mean. Up to {@link EXACT_UNITS} units that differ at all, every pattern is enumerated;
 * beyond, {@link RESAMPLES} drawn ones give p = (1 + #{T* ≥ T}) / (R + 1). A contrast without a difference has p = 1.
 * Reference cases: `signFlipExact`, `signFlipMaxT`.
 */
export function signFlip(differences: Differences, options: SignFlipOptions): SignFlip {
  const { units, contrasts } = differences
  if (differences.values.length !== units * contrasts) {
    throw new RangeError(`${units} units × ${contrasts} contrasts need ${units * contrasts} differences`)
  }
  const moving = unitsThatDiffer(differences)
  const exact = options.method === undefined ? moving.length <= EXACT_UNITS : options.method === 'exact'
  if (exact && moving.length > 24) throw new RangeError(`${moving.length} units are too many to enumerate`)
  const resamples = options.resamples ?? RESAMPLES
  const counter = new StepDown(differences, moving)
  if (exact) enumerate(differences, moving, counter)
  else sample(differences, counter, resamples, options)
  const p = (count: number): number => (exact ? count / counter.patterns : (1 + count) / (resamples + 1))
  const stepDown = new Array<number>(contrasts).fill(1)
  let floor = 0
  counter.order.forEach((contrast, rank) => {
    floor = Math.max(floor, p(counter.stepDown[rank] ?? 0))
    stepDown[contrast] = floor
  })
  const designExact = options.method === undefined ? units <= EXACT_UNITS : exact
  return {
    raw: Array.from(counter.raw, p),
    stepDown,
    singleStep: Array.from(counter.single, p),
    exact,
    resamples: exact ? null : resamples,
    pFloor: designExact ? Math.min(1, 2 ** (1 - units)) : 1 / (resamples + 1),
  }
}

function unitsThatDiffer({ units, contrasts, values }: Differences): number[] {
  const moving: number[] = []
  for (let unit = 0; unit < units; unit++) {
    for (let j = 0; j < contrasts; j++) {
      if (values[unit * contrasts + j] !== 0) {
        moving.push(unit)
        break
      }
    }
  }
  return moving
}

/** Counts how often a flipped statistic reaches the observed one: alone, against the maximum, and step by step. */
class StepDown {
  readonly raw: Float64Array
  readonly single: Float64Array
  /** By rank in {@link order}. */
  readonly stepDown: Float64Array
  /** Contrasts by observed statistic, largest first. */
  readonly order: readonly number[]
  patterns = 0
  readonly #scale: Float64Array
  readonly #reach: Float64Array

  constructor({ contrasts, values }: Differences, moving: readonly number[]) {
    this.raw = new Float64Array(contrasts)
    this.single = new Float64Array(contrasts)
    this.stepDown = new Float64Array(contrasts)
    this.#scale = new Float64Array(contrasts)
    this.#reach = new Float64Array(contrasts)
    const observed = new Float64Array(contrasts)
    for (let j = 0; j < contrasts; j++) {
      let sum = 0
      let size = 0
      let squares = 0
      for (const unit of moving) {
        const value = values[unit * contrasts + j] ?? 0
        sum += value
        size += Math.abs(value)
        squares += value * value
      }
      const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares)
      this.#scale[j] = scale
      observed[j] = Math.abs(sum) * scale
      this.#reach[j] = (Math.abs(sum) - TIE * size) * scale
    }
    this.order = Array.from(observed.keys()).sort((a, b) => (observed[b] ?? 0) - (observed[a] ?? 0) || a - b)
  }

  /** Takes the flipped sums of one pattern, starting at `from`. */
  add(sums: Float64Array, from: number): void {
    const contrasts = this.raw.length
    this.patterns++
    let largest = 0
    for (let rank = contrasts - 1; rank >= 0; rank--) {
      const j = this.order[rank] ?? 0
      const statistic = Math.abs(sums[from + j] ?? 0) * (this.#scale[j] ?? 0)
      if (statistic > largest) largest = statistic
      const reach = this.#reach[j] ?? 0
      if (statistic >= reach) this.raw[j] = (this.raw[j] ?? 0) + 1
      if (largest >= reach) this.stepDown[rank] = (this.stepDown[rank] ?? 0) + 1
    }
    for (let j = 0; j < contrasts; j++) {
      if (largest >= (this.#reach[j] ?? 0)) this.single[j] = (this.single[j] ?? 0) + 1
    }
  }
}

/**
 * Gray code: one sign changes from pattern to pattern. The first unit's sign stays, as |T| is the same for a pattern
 * and its opposite. Sums are taken afresh every 2^BLOCK_BITS patterns, so that rounding cannot grow into the tie band.
 */
function enumerate({ contrasts, values }: Differences, moving: readonly number[], counter: StepDown): void {
  const flips = Math.max(0, moving.length - 1)
  const sums = new Float64Array(contrasts)
  const signs = new Int8Array(moving.length).fill(1)
  const total = 2 ** flips
  for (let pattern = 0; pattern < total; pattern++) {
    if (pattern > 0) {
      const unit = 32 - Math.clz32(pattern & -pattern) // lowest set bit, one past the fixed first unit
      const sign = -(signs[unit] ?? 1)
      signs[unit] = sign
      const row = (moving[unit] ?? 0) * contrasts
      for (let j = 0; j < contrasts; j++) sums[j] = (sums[j] ?? 0) + 2 * sign * (values[row + j] ?? 0)
    }
    if (pattern % 2 ** BLOCK_BITS === 0) {
      sums.fill(0)
      for (let unit = 0; unit < moving.length; unit++) {
        const row = (moving[unit] ?? 0) * contrasts
        for (let j = 0; j < contrasts; j++) sums[j] = (sums[j] ?? 0) + (signs[unit] ?? 1) * (values[row + j] ?? 0)
      }
    }
    counter.add(sums, 0)
  }
}

/**
 * Unit u flips in resample r when bit u of the words at counter (u >> 7, r, stream, 0) is set: a matter of the design,
 * so another candidate moves no one's flips. Eight units at a time go through a table of their 256 partial sums, which
 * saves seven of eight additions.
 */
function sample(
  differences: Differences,
  counter: StepDown,
  resamples: number,
  { key, stream }: SignFlipOptions,
): void {
  const { units, contrasts } = differences
  const sums = new Float64Array(resamples * contrasts)
  const table = new Float64Array(256 * contrasts)
  const bits = new Uint32Array(resamples * 4)
  const words = new Uint32Array(4)
  for (let first = 0; first < units; first += 8) {
    if (first % 128 === 0) {
      for (let r = 0; r < resamples; r++) {
        philox(words, first >>> 7, r, stream, 0, key)
        bits.set(words, r * 4)
      }
    }
    fillTable(table, differences, first)
    const word = (first >>> 5) & 3
    const shift = first & 31
    for (let r = 0; r < resamples; r++) {
      const entry = (((bits[r * 4 + word] ?? 0) >>> shift) & 255) * contrasts
      const row = r * contrasts
      for (let j = 0; j < contrasts; j++) sums[row + j] = (sums[row + j] ?? 0) + (table[entry + j] ?? 0)
    }
  }
  for (let r = 0; r < resamples; r++) counter.add(sums, r * contrasts)
}

function fillTable(table: Float64Array, { units, contrasts, values }: Differences, first: number): void {
  table.fill(0)
  for (let unit = first; unit < Math.min(first + 8, units); unit++) {
    for (let entry = 0; entry < 256; entry++) {
      const sign = (entry >>> (unit - first)) & 1 ? -1 : 1
      for (let j = 0; j < contrasts; j++) {
        const cell = entry * contrasts + j
        table[cell] = (table[cell] ?? 0) + sign * (values[unit * contrasts + j] ?? 0)
      }
    }
  }
}
