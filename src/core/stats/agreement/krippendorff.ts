import { requireFinite } from '../finite.ts'
import { refuse, type Statistic } from '../refusal.ts'

export const RATING_SCALES = ['nominal', 'ordinal', 'interval', 'ratio'] as const
export type RatingScale = (typeof RATING_SCALES)[number]

/** How an α is read (Krippendorff 2004): below `tentative` the judge may not carry a ship verdict. */
export const RELIABLE_ALPHA = 0.8
export const TENTATIVE_ALPHA = 0.667

export function readAlpha(alpha: number): 'reliable' | 'tentative' | 'unreliable' {
  if (alpha >= RELIABLE_ALPHA) return 'reliable'
  return alpha >= TENTATIVE_ALPHA ? 'tentative' : 'unreliable'
}

/**
 * Krippendorff's α = 1 − D_o/D_e for any number of judges, any number of them missing: pairs of ratings of one unit
 * against pairs of any two ratings, with the squared distance of the scale: nominal 0/1; ordinal the number of ratings
 * between (half of the two ends'); interval (c−k)²; ratio ((c−k)/(c+k))². Reference: `krippendorff`. Krippendorff 2004,
 * 11.3.
 *
 * Units with fewer than two ratings say nothing and are left out. Refuses no ratings, no unit with two of them, and
 * ratings that are all equal: no variation is not perfect agreement.
 *
 * @param units per unit the ratings of its judges, null where a judge gave none
 * @throws RangeError for ratings that are not finite, or negative on the ratio scale
 */
export function krippendorffAlpha(
  units: readonly (readonly (number | null)[])[],
  scale: RatingScale,
): Statistic<'no_data' | 'no_pairs' | 'no_variation'> {
  // Everything is summed in the order of the values, so that neither judges nor units have one.
  const given = units.map((unit) => unit.filter((rating) => rating !== null).sort((a, b) => a - b))
  for (const unit of given) requireFinite(unit, 'rating')
  if (given.every((unit) => unit.length === 0)) return refuse('no_data')
  const paired = given.filter((unit) => unit.length >= 2)
  if (paired.length === 0) return refuse('no_pairs')
  const counts = new Map<number, number>()
  for (const rating of paired.flat()) counts.set(rating, (counts.get(rating) ?? 0) + 1)
  const values = [...counts.keys()].sort((a, b) => a - b)
  if (values.length < 2) return refuse('no_variation')
  if (scale === 'ratio' && (values[0] ?? 0) < 0) throw new RangeError('ratings on a ratio scale are not negative')
  const distance = squaredDistance(scale, values, counts)
  const apartInUnits = paired.map((unit) => {
    let apart = 0
    for (let i = 0; i < unit.length; i++) {
      for (let j = 0; j < i; j++) apart += distance(unit[i] ?? 0, unit[j] ?? 0)
    }
    return apart / (unit.length - 1)
  })
  const observed = apartInUnits.sort((a, b) => a - b).reduce((sum, apart) => sum + apart, 0)
  const n = paired.reduce((sum, unit) => sum + unit.length, 0)
  let expected = 0
  values.forEach((a, i) => {
    for (let j = 0; j < i; j++) {
      const b = values[j] ?? 0
      expected += (counts.get(a) ?? 0) * (counts.get(b) ?? 0) * distance(a, b)
    }
  })
  return { value: 1 - ((n - 1) * observed) / expected }
}

function squaredDistance(
  scale: RatingScale,
  values: readonly number[],
  counts: ReadonlyMap<number, number>,
): (a: number, b: number) => number {
  switch (scale) {
    case 'nominal':
      return (a, b) => (a === b ? 0 : 1)
    case 'interval':
      return (a, b) => (a - b) ** 2
    case 'ratio':
      return (a, b) => (a === b ? 0 : ((a - b) / (a + b)) ** 2)
    case 'ordinal': {
      // Ratings up to the middle of a value: the difference of two is the number of ratings between their middles.
      const middles = new Map<number, number>()
      let below = 0
      for (const value of values) {
        const count = counts.get(value) ?? 0
        middles.set(value, below + count / 2)
        below += count
      }
      return (a, b) => ((middles.get(a) ?? 0) - (middles.get(b) ?? 0)) ** 2
    }
  }
}
