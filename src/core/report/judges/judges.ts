import type { PlannedScorer } from '../../campaign/plan.ts'
import type { PhiloxKey } from '../../stats/philox.ts'
import type { Cells } from '../cells.ts'
import { varianceOf } from '../variance.ts'
import { agreementOf, type RatedUnit } from './agreement.ts'
import { accuracyOf, correctedOf } from './correction.ts'
import type { HumanLabel } from './label.ts'
import { isUsable, type Rated, type Ratings, ratingScaleOf, ratingsOf } from './ratings.ts'
import type { JudgeReport } from './report.ts'

/** How far each judge agrees with the others that were asked the same, and with people. */
export function judgesOf(
  cells: Cells,
  scorers: readonly PlannedScorer[],
  labels: readonly HumanLabel[],
  key: PhiloxKey,
): JudgeReport[] {
  const usable = labels.filter((label) => isUsable(label, scorers))
  return ratingsOf(cells, scorers, usable).map((ratings) => judgeOf(cells, ratings, key))
}

function judgeOf(cells: Cells, { scorer, raters, models, rated }: Ratings, key: PhiloxKey): JudgeReport {
  const said = rated.flatMap(({ judges, people }) => [...judges.flatMap((value) => value ?? []), ...people])
  const scale = ratingScaleOf(said)
  const unit = (one: Rated, ratings: RatedUnit['ratings']): RatedUnit => ({ scenario: one.scenario, ratings })
  const labelled = rated.filter(({ people }) => people.length > 0)
  const agreement =
    raters.length < 2
      ? null
      : agreementOf(
          rated.map((one) => unit(one, one.judges)),
          scale,
          key,
        )
  const human =
    labelled.length === 0
      ? null
      : {
          labelled: labelled.length,
          disputed: labelled.filter(({ disputed }) => disputed).length,
          agreement: agreementOf(
            labelled.map((one) => unit(one, [one.judges[0] ?? null, ...one.people])),
            scale,
            key,
          ),
          accuracy: accuracyOf(rated),
        }
  const readings = [agreement?.reading, human?.agreement.reading]
  return {
    scorer: scorer.name,
    raters,
    models,
    agreement,
    human,
    noise: raters.length < 2 ? null : varianceOf(rated.map(({ judges }) => judges.flatMap((value) => value ?? []))),
    corrected:
      human === null
        ? []
        : cells.variants.map(({ id }, variant) => ({
            variant: id,
            ...correctedOf(
              rated.filter((one) => one.variant === variant),
              cells.seeds.length,
              scorer.scale,
            ),
          })),
    carries: !readings.includes('unreliable'),
  }
}
