/** How often what happened in the campaigns of one row. */
export class Tally {
  campaigns = 0
  regress = 0
  ship = 0
  red = 0
  intervals = 0
  covering = 0

  /** @param truth the true difference, or null where there is no single one */
  add(report, truth) {
    this.campaigns++
    if (report.candidates.some(({ outcome }) => outcome === 'regress')) this.regress++
    if (report.candidates.some(({ outcome }) => outcome === 'ship')) this.ship++
    if (report.verdict.exitCode === 1) this.red++
    if (truth === null) return
    // Rounding to six digits must not decide.
    const covers = ({ lo, hi }) => lo - 1e-9 <= truth && truth <= hi + 1e-9
    const intervals = report.candidates.flatMap(({ difference, atLeast }) => {
      const found = difference ?? atLeast.mean
      return found.lo === null || found.hi === null ? [] : [found]
    })
    if (intervals.length < report.candidates.length) return
    this.intervals++
    if (intervals.every(covers)) this.covering++
  }

  static sum(tallies) {
    const total = new Tally()
    for (const tally of tallies) for (const key of Object.keys(total)) total[key] += tally[key]
    return total
  }
}

const percent = (share, digits = 1) => `${(share * 100).toFixed(digits)}`
const standardError = (share, n) => Math.sqrt((share * (1 - share)) / n)

/** Collects what broke; each method gives the text of a table's cell. */
export class Bounds {
  broken = []

  /** A rate that must not exceed `nominal` by more than three standard errors. */
  atMost(what, count, n, nominal) {
    const rate = count / n
    return this.#cell(what, rate, rate <= nominal + 3 * standardError(nominal, n), `at most ${percent(nominal)} + 3 SE`)
  }

  /** A rate that must not fall below `nominal` by more than three standard errors. */
  atLeast(what, count, n, nominal) {
    if (n === 0) return '–'
    const rate = count / n
    return this.#cell(
      what,
      rate,
      rate >= nominal - 3 * standardError(nominal, n),
      `at least ${percent(nominal)} − 3 SE`,
    )
  }

  /** A rate that must lie within `points` percentage points of the planned one. */
  near(what, count, n, planned, points) {
    const rate = count / n
    return this.#cell(what, rate, Math.abs(rate - planned) <= points / 100, `${percent(planned)} ± ${points}`)
  }

  exactly(what, count, expected) {
    return this.#cell(what, count, count === expected, String(expected), String(count))
  }

  #cell(what, rate, holds, bound, text = percent(rate)) {
    if (holds) return text
    this.broken.push(`${what}: ${text}, must be ${bound}`)
    return `**${text}**`
  }
}

export const shown = (count, n) => percent(count / n)
