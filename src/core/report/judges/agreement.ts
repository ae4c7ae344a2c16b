import { intraclass } from '../../stats/agreement/intraclass.ts'
import { krippendorffAlpha, type RatingScale, readAlpha } from '../../stats/agreement/krippendorff.ts'
import { type AgreementTable, cohenKappa, dominatedByOneCategory, gwetAc1 } from '../../stats/agreement/two-judges.ts'
import { clusterBootstrap } from '../../stats/bootstrap/cluster.ts'
import type { PhiloxKey } from '../../stats/philox.ts'
import type { Agreement } from './report.ts'

const LEVEL = 0.95
const RESAMPLES = 1_000
const STREAM = 9
/** Categories of a table of two judges that anybody would read. */
const MOST_CATEGORIES = 20

/** One rated output: the scenario it is of, and the ratings it got. */
export interface RatedUnit {
  readonly scenario: number
  readonly ratings: readonly (number | null)[]
}

/**
 * Agreement of all raters: Krippendorff's α with an interval over scenarios, whose seeds are no units of their own; of
 * two raters also κ (quadratic for ordered steps) and AC1, which keeps its meaning where nearly all is of one kind; of
 * measured scores also the ICC of absolute agreement.
 */
export function agreementOf(units: readonly RatedUnit[], scale: RatingScale, key: PhiloxKey): Agreement {
  const paired = units.filter(({ ratings }) => ratings.filter((rating) => rating !== null).length >= 2)
  const alpha = krippendorffAlpha(
    paired.map(({ ratings }) => ratings),
    scale,
  )
  const table = tableOf(paired)
  const complete = paired.flatMap(({ ratings }) =>
    ratings.every((rating) => rating !== null) ? [ratings as readonly number[]] : [],
  )
  const raters = new Set(complete.map(({ length }) => length))
  return {
    scale,
    outputs: paired.length,
    alpha: alpha.value,
    ...intervalOf(paired, scale, key),
    reading: alpha.value === null ? null : readAlpha(alpha.value),
    kappa: table === null ? null : cohenKappa(table, scale === 'ordinal' ? 'quadratic' : 'unweighted').value,
    ac1: table === null ? null : gwetAc1(table).value,
    dominated: table === null ? false : dominatedByOneCategory(table),
    icc: scale === 'interval' && raters.size === 1 ? intraclass(complete).icc2 : null,
    ...(alpha.refused === undefined ? {} : { refused: alpha.refused }),
  }
}

function intervalOf(
  units: readonly RatedUnit[],
  scale: RatingScale,
  key: PhiloxKey,
): { lo: number | null; hi: number | null } {
  const byScenario = new Map<number, RatedUnit['ratings'][]>()
  for (const { scenario, ratings } of units) byScenario.set(scenario, [...(byScenario.get(scenario) ?? []), ratings])
  const clusters = [...byScenario.keys()].sort((a, b) => a - b).map((scenario) => byScenario.get(scenario) ?? [])
  const found = clusterBootstrap(
    clusters.length,
    (indices) =>
      krippendorffAlpha(
        Array.from(indices).flatMap((at) => clusters[at] ?? []),
        scale,
      ).value,
    { level: LEVEL, resamples: RESAMPLES, key, stream: STREAM },
  )
  return { lo: found.percentile.lo, hi: found.percentile.hi }
}

/** First against second rater; null unless there are exactly two of them and few categories. */
function tableOf(units: readonly RatedUnit[]): AgreementTable | null {
  if (units.some(({ ratings }) => ratings.length !== 2)) return null
  const values = [...new Set(units.flatMap(({ ratings }) => ratings.flatMap((rating) => rating ?? [])))].sort(
    (a, b) => a - b,
  )
  if (values.length === 0 || values.length > MOST_CATEGORIES) return null
  const at = new Map(values.map((value, i) => [value, i]))
  const table = values.map(() => values.map(() => 0))
  for (const { ratings } of units) {
    const row = table[at.get(ratings[0] ?? Number.NaN) ?? -1]
    const column = at.get(ratings[1] ?? Number.NaN)
    if (row !== undefined && column !== undefined) row[column] = (row[column] ?? 0) + 1
  }
  return table
}
