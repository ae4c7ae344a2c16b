import { describe, expect, it } from 'vitest'
import type { PlannedScorer } from '../../../src/core/campaign/plan.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import { type HumanLabel, LABEL_SCHEMA, parseLabels } from '../../../src/core/report/judges/label.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { krippendorffAlpha } from '../../../src/core/stats/agreement/krippendorff.ts'
import { roganGladen } from '../../../src/core/stats/rogan-gladen.ts'
import {
  type Coordinates,
  cellsOf,
  idDigest,
  inputOf,
  isCandidate,
  type PlanParts,
  planOf,
  recordOf,
  warningCodes,
} from './records.ts'

type At = { readonly scenario: number; readonly seed: number }
interface Said {
  readonly parts?: PlanParts
  /** Of the primary judge. */
  readonly own: (cell: Coordinates, at: At) => number
  /** Of the second judge; null where it failed. Without it there is one judge. */
  readonly second?: (cell: Coordinates, at: At) => number | null
  readonly people?: (cell: Coordinates, at: At) => readonly boolean[]
  readonly labels?: readonly HumanLabel[]
}

/** A campaign whose primary scorer is a judge. */
function judged({ parts = {}, own, second, people, labels = [] }: Said): CampaignReport {
  const plan = planOf(parts)
  const [primary] = plan.scorers
  if (primary === undefined) throw new Error('no scorer')
  const scorers: PlannedScorer[] = [{ ...primary, role: 'judge' }]
  if (second !== undefined) scorers.push({ ...primary, name: 'second', role: 'judge', rates: 'label' })
  const scenarioAt = new Map(plan.scenarios.map(({ id }, i) => [id, i]))
  const written: HumanLabel[] = [...labels]
  const records = cellsOf(plan).map((cell) => {
    const at = { scenario: scenarioAt.get(cell.scenario) ?? 0, seed: cell.seed }
    const value = own(cell, at)
    const top = primary.scale?.[1] ?? 1
    const other = second?.(cell, at)
    const output = idDigest(`${cell.variant} ${cell.scenario} ${cell.seed}`)
    people?.(cell, at).forEach((pass, rater) => {
      written.push({
        schema: LABEL_SCHEMA,
        campaignId: plan.campaignId,
        variantId: cell.variant,
        scenarioId: cell.scenario,
        seed: cell.seed,
        output,
        scorer: 'label',
        value: Number(pass),
        pass,
        rater: `person ${rater}`,
      })
    })
    return recordOf(plan, cell, {
      score: value,
      scores: {
        label: { value, pass: value === top, role: 'judge' },
        ...(other === undefined
          ? {}
          : other === null
            ? { second: { value: null, pass: null, role: 'judge', error: 'no answer' } }
            : { second: { value: other, pass: other === top, role: 'judge' } }),
      },
      judges: { label: { model: 'judge-1', digest: idDigest('label') } },
    })
  })
  return buildReport({ ...inputOf({ ...plan, scorers }, records), labels: written })
}

/** The candidate is better in most scenarios. */
const better = (cell: Coordinates, { scenario }: At): number => Number(isCandidate(cell) || scenario % 3 === 0)
const outcome = ({ candidates }: CampaignReport) => candidates[0]?.outcome

describe('judges that were asked the same', () => {
  it('agree as Krippendorff’s α says, a failed judge being no rating', () => {
    const second = (cell: Coordinates, at: At): number | null =>
      at.scenario === 0 ? null : at.scenario === 7 ? 1 - better(cell, at) : better(cell, at)
    const { judges } = judged({ parts: { scenarios: 24 }, own: better, second })
    const [judge] = judges
    expect(judge).toMatchObject({ scorer: 'label', raters: ['label', 'second'], models: ['judge-1'], human: null })
    const pairs = ['current', 'concise'].flatMap((variant) =>
      Array.from({ length: 23 }, (_, i) => {
        const cell = { variant, scenario: '', seed: 0 }
        const at = { scenario: i + 1, seed: 0 }
        return [better(cell, at), second(cell, at)]
      }),
    )
    expect(judge?.agreement?.outputs).toBe(46)
    expect(judge?.agreement?.alpha).toBeCloseTo(krippendorffAlpha(pairs, 'nominal').value ?? Number.NaN, 5)
    expect(judge?.agreement).toMatchObject({ reading: 'reliable', lo: null, hi: null })
  })

  it('from 30 scenarios on have an interval over scenarios', () => {
    const second = (cell: Coordinates, at: At) => (at.scenario % 10 === 7 ? 1 - better(cell, at) : better(cell, at))
    const { judges } = judged({ parts: { scenarios: 40 }, own: better, second })
    const { alpha = null, lo = null, hi = null } = judges[0]?.agreement ?? {}
    expect(lo ?? 1).toBeLessThan(alpha ?? 0)
    expect(hi ?? 0).toBeGreaterThan(alpha ?? 1)
  })

  it('that agree carry a ship verdict; that hardly do carry none, and the sentence says which', () => {
    const parts = { scenarios: 24 }
    expect(outcome(judged({ parts, own: better, second: better }))).toBe('ship')
    const coin = (_: Coordinates, { scenario }: At) => scenario % 2
    const report = judged({ parts, own: better, second: coin })
    expect(report.judges[0]).toMatchObject({ carries: false, agreement: { reading: 'unreliable' } })
    expect(report.candidates[0]).toMatchObject({ outcome: 'inconclusive', rule: '10' })
    expect(report.candidates[0]?.reasons[0]).toMatchObject({
      code: 'judge_unreliable',
      text: expect.stringContaining('with second (alpha'),
    })
    expect(warningCodes(report)).toContain('judge_unreliable')
  })

  it('that hardly agree still show harm, and stop no threshold from being missed', () => {
    const coin = (_: Coordinates, { scenario }: At) => scenario % 2
    const worse = (cell: Coordinates, at: At) => 1 - better(cell, at)
    expect(outcome(judged({ parts: { scenarios: 24 }, own: worse, second: coin }))).toBe('regress')
    const gate = { comparator: null, atLeast: 0.5, candidates: ['concise'] }
    const high = judged({ parts: { scenarios: 24, gate }, own: better, second: coin })
    expect(high.candidates[0]).toMatchObject({ outcome: 'inconclusive', rule: '10' })
  })

  it('without any variation are no agreement of 1', () => {
    const { judges } = judged({ parts: { scenarios: 24 }, own: () => 1, second: () => 1 })
    expect(judges[0]?.agreement).toMatchObject({ alpha: null, reading: null, refused: 'no_variation' })
    expect(judges[0]?.carries).toBe(true)
  })

  it('where nearly all pass have AC1 beside κ', () => {
    const own = (_: Coordinates, { scenario }: At) => Number(scenario !== 0)
    const second = (_: Coordinates, { scenario }: At) => Number(scenario !== 1)
    const { judges } = judged({ parts: { scenarios: 60 }, own, second })
    expect(judges[0]?.agreement).toMatchObject({ dominated: true })
    expect(judges[0]?.agreement?.kappa).toBeLessThan(0)
    expect(judges[0]?.agreement?.ac1).toBeGreaterThan(0.9)
  })

  it('of a graded scale are ordered steps, and their noise is a variance component', () => {
    const own = (_: Coordinates, { scenario }: At) => 1 + (scenario % 5)
    const second = (_: Coordinates, { scenario }: At) => Math.min(5, 1 + (scenario % 5) + (scenario % 2))
    const { judges } = judged({ parts: { scenarios: 30, scale: [1, 5] }, own, second })
    expect(judges[0]?.agreement?.scale).toBe('ordinal')
    expect(judges[0]?.noise?.sigma2).toBeGreaterThan(0)
    expect(judges[0]?.noise?.tau2).toBeGreaterThan(judges[0]?.noise?.sigma2 ?? 9)
  })
})

describe('a judge and people', () => {
  const parts = { scenarios: 80 }
  /** The judge passes a tenth of what people fail; half of the scenarios are labelled. */
  const truth = (cell: Coordinates, { scenario }: At): boolean => (scenario + Number(isCandidate(cell))) % 2 === 0
  const own = (cell: Coordinates, at: At) => Number(truth(cell, at) || at.scenario % 10 === 3)
  const people = (cell: Coordinates, at: At) => (at.scenario % 2 < 1 || at.scenario % 4 === 3 ? [truth(cell, at)] : [])

  it('has its sensitivity and specificity with Wilson intervals, and α with people', () => {
    const { judges } = judged({ parts, own, people })
    const human = judges[0]?.human
    expect(human).toMatchObject({ labelled: 120, disputed: 0 })
    expect(human?.accuracy?.sensitivity?.est).toBe(1)
    expect(human?.accuracy?.specificity?.est).toBeLessThan(1)
    expect(human?.accuracy?.specificity?.lo).toBeLessThan(human?.accuracy?.specificity?.est ?? 0)
    expect(human?.agreement.alpha).toBeGreaterThan(0.667)
  })

  it('corrects each variant with that variant’s own labels', () => {
    const { judges } = judged({ parts, own, people })
    const [concise] = judges[0]?.corrected ?? []
    expect(concise?.variant).toBe('concise')
    const labels = { truePass: 0, falseFail: 0, trueFail: 0, falsePass: 0 }
    let passed = 0
    for (let scenario = 0; scenario < 80; scenario++) {
      const cell = { variant: 'concise', scenario: '', seed: 0 }
      const at = { scenario, seed: 0 }
      const pass = own(cell, at) === 1
      if (pass) passed++
      for (const person of people(cell, at)) {
        labels[person ? (pass ? 'truePass' : 'falseFail') : pass ? 'falsePass' : 'trueFail']++
      }
    }
    const expected = roganGladen(passed, 80, labels, 0.95)
    expect(concise?.passRate).toMatchObject({ method: 'rogan-gladen', n: 80 })
    expect(concise?.passRate.est).toBeCloseTo(expected.est ?? Number.NaN, 5)
    expect(concise?.mean).toMatchObject({ method: 'ppi' })
    expect(concise?.mean.est).toBeGreaterThan(0)
  })

  it('is not corrected by nine labels, nor by pooled seeds', () => {
    const few = judged({ parts, own, people: (cell, at) => (at.scenario < 9 ? [truth(cell, at)] : []) })
    expect(few.judges[0]?.corrected[0]?.passRate).toMatchObject({ est: null, refused: 'too_few_labels' })
    expect(few.judges[0]?.corrected[0]?.mean).toMatchObject({ est: null, refused: 'too_few_labels' })
    const seeds = judged({ parts: { ...parts, seeds: 2 }, own, people })
    expect(seeds.judges[0]?.corrected[0]?.passRate).toMatchObject({ est: null, refused: 'not_applicable' })
  })

  it('outputs on which people disagree calibrate nothing', () => {
    const { judges } = judged({ parts: { scenarios: 12 }, own: better, people: () => [true, false] })
    expect(judges[0]?.human).toMatchObject({ labelled: 24, disputed: 24, accuracy: null })
  })

  it('that disagrees with people ships nothing', () => {
    const report = judged({ parts: { scenarios: 24 }, own: better, people: (_, { scenario }) => [scenario % 2 === 0] })
    expect(report.candidates[0]).toMatchObject({ outcome: 'inconclusive', rule: '10' })
    expect(report.candidates[0]?.reasons[0]?.text).toContain('with people (alpha')
  })

  it('labels of another output, campaign or scorer are none of this one', () => {
    const label: HumanLabel = {
      schema: LABEL_SCHEMA,
      campaignId: 'triage',
      variantId: 'concise',
      scenarioId: 's01',
      seed: 0,
      output: idDigest('another answer'),
      scorer: 'label',
      value: 0,
    }
    const other = judged({ own: better, labels: [label] })
    expect(other.judges[0]?.human ?? null).toBeNull()
    expect(judged({ own: better, labels: [{ ...label, campaignId: 'other' }] }).judges).toEqual([])
    expect(warningCodes(judged({ own: better, labels: [{ ...label, scorer: 'tone' }] }))).toContain('label_scorer')
    const output = idDigest('concise s01 0')
    const outside = judged({ own: better, labels: [{ ...label, output, value: 7 }] })
    expect(warningCodes(outside)).toContain('label_scale')
    expect(outside.judges).toEqual([])
  })
})

describe('a label file', () => {
  const line = JSON.stringify({
    schema: LABEL_SCHEMA,
    campaignId: 'triage',
    variantId: 'v',
    scenarioId: 's',
    seed: 0,
    output: idDigest('x'),
    scorer: 'label',
    value: 1,
  })

  it('is read line by line; blank lines do not count', () => {
    expect(parseLabels(`${line}\n\n`, 'l.jsonl')).toHaveLength(1)
    expect(parseLabels('', 'l.jsonl')).toEqual([])
  })

  it.each([
    ['no JSON', `${line}\n{"schema"`, 'l.jsonl:2: is no JSON'],
    ['another version', line.replace('label@1', 'label@9'), 'l.jsonl:1: schema:'],
    ['an unknown key', line.replace('"seed"', '"sead"'), 'l.jsonl:1:'],
    ['a value that JSON cannot say', line.replace('"value":1', '"value":1e999'), 'l.jsonl:1: value:'],
    ['the same output twice by nobody', `${line}\n${line}`, 'l.jsonl:2: labels the output of line 1 once more'],
  ])('with %s names the line', (_, text, message) => {
    expect(() => parseLabels(text, 'l.jsonl')).toThrow(message)
  })
})
