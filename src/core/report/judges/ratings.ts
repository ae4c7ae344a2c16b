import type { PlannedScorer } from '../../campaign/plan.ts'
import type { RunRecord } from '../../record/record.ts'
import type { RatingScale } from '../../stats/agreement/krippendorff.ts'
import { byCodeUnit, type Cells } from '../cells.ts'
import type { Reason } from '../report.ts'
import type { HumanLabel } from './label.ts'

/** One output with everything that was said about it, for one scorer. */
export interface Rated {
  readonly variant: number
  readonly scenario: number
  /** The scorer's own value, then those of the scorers that rate what it rates; null: failed, or no opinion. */
  readonly judges: readonly (number | null)[]
  /** Whether the scorer passed it; null where it says neither. */
  readonly pass: boolean | null
  /** Values of the people who labelled this very output, by name. */
  readonly people: readonly number[]
  /** What they all say about passing; null where nobody says, or they do not agree. */
  readonly peoplePass: boolean | null
  readonly disputed: boolean
}

export interface Ratings {
  readonly scorer: PlannedScorer
  readonly raters: readonly string[]
  readonly models: readonly string[]
  readonly rated: readonly Rated[]
}

/** Every judge that somebody else rates beside, people included, with what was said about each output. */
export function ratingsOf(
  cells: Cells,
  scorers: readonly PlannedScorer[],
  labels: readonly HumanLabel[],
): readonly Ratings[] {
  const byCell = new Map<string, HumanLabel[]>()
  for (const label of labels) {
    const key = labelKey(label.variantId, label.scenarioId, label.seed, label.scorer)
    byCell.set(key, [...(byCell.get(key) ?? []), label])
  }
  return scorers.flatMap((scorer) => {
    if (scorer.rates !== undefined) return []
    const beside = scorers.filter(({ rates }) => rates === scorer.name).map(({ name }) => name)
    const labelled = labels.some((label) => label.scorer === scorer.name)
    if (beside.length === 0 && !(labelled && scorer.role === 'judge')) return []
    const raters = [scorer.name, ...beside.sort(byCodeUnit)]
    const models = new Set<string>()
    const perVariant = cells.scenarios.length * cells.seeds.length
    const rated = cells.records.flatMap((record, at): Rated[] => {
      if (record === undefined || record.output === null) return []
      for (const name of raters) if (record.judges[name]?.model != null) models.add(record.judges[name].model)
      const own = byCell.get(labelKey(record.variantId, record.scenarioId, record.seed, scorer.name)) ?? []
      const people = own
        .filter((label) => label.output === record.output?.digest)
        .sort((a, b) => byCodeUnit(a.rater ?? '', b.rater ?? ''))
      return [
        {
          variant: Math.floor(at / perVariant),
          scenario: Math.floor((at % perVariant) / cells.seeds.length),
          judges: raters.map((name) => givenValue(record, name)),
          pass: record.scores[scorer.name]?.pass ?? null,
          people: people.map(({ value }) => value),
          ...passOfPeople(people),
        },
      ]
    })
    return [{ scorer, raters, models: [...models].sort(byCodeUnit), rated }]
  })
}

/** Whether a label answers the question of a scorer that is here, on its scale. */
export function isUsable({ scorer: name, value }: HumanLabel, scorers: readonly PlannedScorer[]): boolean {
  const scale = scorers.find((one) => one.name === name)?.scale
  return scale !== undefined && (scale === null || (value >= scale[0] && value <= scale[1]))
}

/** Labels that cannot be used: they name a scorer the campaign has not, or a value off its scale. */
export function labelProblems(scorers: readonly PlannedScorer[], labels: readonly HumanLabel[]): Reason[] {
  const strangers = new Set<string>()
  let outside = 0
  for (const label of labels) {
    if (!scorers.some(({ name }) => name === label.scorer)) strangers.add(label.scorer)
    else if (!isUsable(label, scorers)) outside++
  }
  return [
    ...(strangers.size === 0
      ? []
      : [
          {
            code: 'label_scorer',
            text: `labels name scorers that are not here: ${[...strangers].sort(byCodeUnit).join(', ')}`,
          },
        ]),
    ...(outside === 0
      ? []
      : [{ code: 'label_scale', text: `${outside} labels lie outside the scale of their scorer and do not count` }]),
  ]
}

const labelKey = (...parts: readonly (string | number)[]): string => JSON.stringify(parts)

function givenValue(record: RunRecord, name: string): number | null {
  const score = record.scores[name]
  return score === undefined || score.error !== undefined ? null : score.value
}

function passOfPeople(people: readonly HumanLabel[]): Pick<Rated, 'peoplePass' | 'disputed'> {
  const said = people.flatMap(({ pass }) => (pass === undefined ? [] : [pass]))
  const [first] = said
  const disputed = said.some((pass) => pass !== first)
  return { peoplePass: first === undefined || disputed ? null : first, disputed }
}

/** How far apart two ratings are: pass or fail has no distance, whole steps have an order, anything else is measured. */
export function ratingScaleOf(values: Iterable<number>): RatingScale {
  const distinct = new Set(values)
  if (distinct.size <= 2) return 'nominal'
  return [...distinct].every(Number.isInteger) ? 'ordinal' : 'interval'
}
