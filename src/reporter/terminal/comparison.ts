import type { CampaignReport, Estimate, Outcome } from '../../core/report/report.ts'
import { inline } from '../inline.ts'
import { interval, percent, plural, pValue, unknown } from '../numbers.ts'
import { bySeverity, severity, testWords } from '../sentences.ts'
import { type ForestMark, type ForestRow, forest } from './forest.ts'
import { type Line, plain, type Tone } from './line.ts'
import { type Section, section } from './page.ts'
import { paragraph, type Sheet } from './sheet.ts'
import { cutMiddle } from './width.ts'

const OUTCOME_TONES: { readonly [outcome in Outcome]: Tone } = {
  ship: 'good',
  hold: 'quiet',
  regress: 'bad',
  inconclusive: 'warn',
  underpowered: 'warn',
  invalid: 'bad',
}

/** Every candidate's difference to the comparator on one axis, with zero and the margin. */
export function differences(report: CampaignReport, sheet: Sheet): Section {
  const { margin, comparator } = report.design
  const { scale } = sheet
  const compared = report.candidates.flatMap((candidate) =>
    candidate.difference === null ? [] : [{ candidate, difference: candidate.difference }],
  )
  // Without a single number an axis would only look like one.
  if (compared.every(({ difference: { est, lo, hi } }) => est === null && lo === null && hi === null))
    return section({})
  const marks: ForestMark[] = [{ at: 0, label: '0', kind: 'zero' }]
  if (margin !== null) marks.push({ at: -margin, label: `margin ${scale.difference(-margin)}`, kind: 'limit' })
  const rows = compared
    .toSorted((a, b) => severity(a.candidate.outcome) - severity(b.candidate.outcome))
    .map(
      ({ candidate: { id, outcome }, difference }): ForestRow => ({
        label: inline(id),
        est: difference.est,
        lo: difference.lo,
        hi: difference.hi,
        numbers: estimated(difference, scale.difference),
        outcome,
        tone: OUTCOME_TONES[outcome],
      }),
    )
  const title = `${scale.unit} vs ${comparator === null ? 'comparator' : inline(comparator)}`
  const [header = [], ...lines] = forest(title, rows, marks, { ...sheet, heading: confidence(compared[0]?.difference) })
  return section({
    head: [header],
    groups: lines.map((line) => [line]),
    fair: 6,
    least: 2,
    noun: ['candidate', 'candidates'],
    spaced: true,
  })
}

/** Every variant's mean on one axis with the threshold it must reach. */
export function levels(report: CampaignReport, sheet: Sheet): Section {
  const { scale } = sheet
  const judged = report.candidates.flatMap(({ id, atLeast }) => (atLeast === null ? [] : [{ id, atLeast }]))
  const threshold = judged[0]?.atLeast.threshold
  if (threshold === undefined) return section({})
  const rows = judged.map(
    ({ id, atLeast: { mean, outcome } }): ForestRow => ({
      label: inline(id),
      est: mean.est,
      lo: mean.lo,
      hi: mean.hi,
      numbers: estimated(mean, scale.value),
      outcome,
      tone: OUTCOME_TONES[outcome],
    }),
  )
  const marks: ForestMark[] = [{ at: threshold, label: `at least ${scale.value(threshold)}`, kind: 'limit' }]
  const [header = [], ...lines] = forest('mean', rows, marks, {
    ...sheet,
    heading: confidence(judged[0]?.atLeast.mean),
  })
  return section({
    head: [header],
    groups: lines.map((line) => [line]),
    fair: 4,
    least: 0,
    noun: ['variant', 'variants'],
    spaced: true,
  })
}

function confidence(estimate: Estimate | undefined): string {
  return estimate === undefined ? '' : `[${Number((estimate.level * 100).toFixed(1))} % CI]`
}

/** `-6.4 [-10.9, -1.9]`; a star where the interval only describes. */
function estimated(estimate: Estimate, write: (value: number) => string): string {
  const range = interval(estimate, write)
  if (estimate.est === null) return range === null ? unknown(estimate.refused) : `? ${range}`
  if (range === null) return `${write(estimate.est)} [unknown]`
  return `${write(estimate.est)} ${range}${estimate.descriptive ? '*' : ''}`
}

/** What stands behind each difference: tests, complete cases, missing cells, losses not seen. */
export function details(report: CampaignReport, sheet: Sheet): Section {
  const { scale } = sheet
  const unit = scale.unit === 'pp' ? ' pp' : ''
  const groups = bySeverity(report.candidates).flatMap((candidate): Line[][] => {
    const { id, difference, signFlip, adjusted, completeCase, bounds, unseenLoss } = candidate
    const parts: string[] = []
    if (candidate.outcome === 'invalid' || (difference !== null && difference.est === null && difference.lo === null))
      return []
    for (const estimate of [difference, candidate.atLeast?.mean ?? null]) {
      if (estimate !== null && estimate.est !== null && estimate.lo === null)
        parts.push(`interval ${unknown(estimate.refused)}`)
    }
    if (signFlip !== null) {
      const floor = signFlip.pFloor > report.design.alpha / 4 ? `, floor ${pValue(signFlip.pFloor)}` : ''
      parts.push(signFlip.p === null ? `p ${unknown(signFlip.refused)}` : `sign-flip p ${pValue(signFlip.p)}${floor}`)
      if (adjusted.method !== 'none' && adjusted.p !== null) parts.push(`${adjusted.method} ${pValue(adjusted.p)}`)
    }
    parts.push(...testWords(candidate, scale))
    if (bounds !== null && bounds.lo !== null && bounds.hi !== null && bounds.lo !== bounds.hi) {
      if (completeCase !== null && completeCase.est !== null) {
        parts.push(`${scale.difference(completeCase.est)}${unit} over the ${completeCase.n} complete`)
      }
      parts.push(`missing cells: ${scale.difference(bounds.lo)} to ${scale.difference(bounds.hi)}${unit}`)
      if (bounds.tippingCells !== null) parts.push(`${plural(bounds.tippingCells, 'failed cell')} would change it`)
    }
    if (candidate.boundedLower?.lo != null) {
      parts.push(`bound for any distribution ${scale.difference(candidate.boundedLower.lo)}${unit}`)
    }
    // The sentence of a green outcome may say it already.
    if (unseenLoss !== null && !candidate.reasons.some(({ text }) => text.includes('half of the scale'))) {
      const { lost, units, upperRate } = unseenLoss
      parts.push(`${lost} of ${units} lost over half the scale (up to ${percent(upperRate)} may)`)
    }
    if (parts.length === 0) return []
    const lead = `  ${cutMiddle(inline(id), 20, sheet.ellipsis)}: `
    return [paragraph(lead, parts.join('; '), sheet, 2, 4).map(plain)]
  })
  return section({ groups, fair: 2 })
}
