/** Scores in [0, 1] of one run: `draw` maps a uniform number to a score; `down` is the largest drop simulated. */
const binary = (p, down) => ({
  name: `pass/fail, ${p}`,
  mean: p,
  variance: p * (1 - p),
  down,
  draw: (u) => Number(u < p),
  lowered: (by) => binary(p - by, down),
})

/** Every score shrunk by the same factor. */
const shrunk = (law, by) => ({ ...law, mean: law.mean - by, draw: (u) => law.draw(u) * (1 - by / law.mean) })

const ushaped = {
  name: 'Beta(½, ½)',
  mean: 0.5,
  down: 0.1,
  draw: (u) => Math.sin((Math.PI * u) / 2) ** 2,
  lowered: (by) => shrunk(ushaped, by),
}

/** An exponential score of mean 1 cut at 8, on the scale of the others. */
const exponential = {
  name: 'exponential',
  mean: (1 - Math.exp(-8)) / 8,
  down: 0.05,
  draw: (u) => Math.min(8, -Math.log(1 - u)) / 8,
  lowered: (by) => shrunk(exponential, by),
}

/** Near enough to normal for a planned power to be the real one: a triangle of width ½ around .7. */
export const triangle = (mean = 0.7) => ({
  name: 'triangular',
  mean,
  variance: 0.25 ** 2 / 6,
  draw: (u) => mean + 0.25 * (u < 0.5 ? Math.sqrt(2 * u) - 1 : 1 - Math.sqrt(2 - 2 * u)),
  lowered: (by) => triangle(mean - by),
})

export const half = binary(0.5, 0.1)
export const LAWS = [binary(0.1, 0.05), half, binary(0.9, 0.1), ushaped, exponential]

/**
 * Scores of one arm, scenario by scenario and seed by seed. A seed repeats its scenario's own draw with probability √icc,
 * else it is drawn anew: every score follows the law, and two seeds of a scenario correlate by icc. Arms are independent,
 * so the differences of two arms have the same icc.
 */
export function armScores(law, { scenarios, seeds, icc }, random) {
  const kept = Math.sqrt(icc)
  return Array.from({ length: scenarios }, () => {
    const own = law.draw(random())
    return Array.from({ length: seeds }, () => {
      const repeats = random() < kept
      const fresh = law.draw(random())
      return repeats ? own : fresh
    })
  })
}

/** Variance of the difference of two arms' means over the seeds of one scenario. */
export function differenceVariance(one, other, { seeds, icc }) {
  return (one.variance + other.variance) * (icc + (1 - icc) / seeds)
}
