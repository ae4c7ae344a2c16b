import type { CampaignReport, CandidateReport, Outcome, ScenarioChange } from '../core/report/report.ts'
import { inline } from './inline.ts'
import { grouped, interval, percent, plural, pValue, type Scale, scaleOf, TYPED, unknown } from './numbers.ts'
import { rerunCommand } from './rerun.ts'
import {
  bySeverity,
  counts,
  designWords,
  measured,
  missing,
  missingWords,
  powerSentence,
  severity,
  stale,
} from './sentences.ts'
import { type ForestMark, type ForestRow, forest } from './terminal/forest.ts'
import { type Line, plain, print, type Span, type Tone } from './terminal/line.ts'
import { page, type Section, section } from './terminal/page.ts'
import { type Column, table } from './terminal/table.ts'
import { variantsTable } from './terminal/variants.ts'
import { cutEnd, cutMiddle, head, textWidth, wrap } from './terminal/width.ts'

export interface TerminalOptions {
  /** Columns that no line exceeds; at least 40 are used. */
  readonly width: number
  readonly color: boolean
  /** False draws with ASCII only (names keep their letters). */
  readonly unicode: boolean
  /** Everything, however long; default at most 40 lines. */
  readonly verbose?: boolean
  /** Shown last. */
  readonly reportPath?: string
  /** Name of the Vitest project, for the command that reruns a scenario; default `evals`. */
  readonly project?: string
}

const LONGEST = 40
const WORST = 5

const WORD_TONES: { readonly [word in CampaignReport['verdict']['word']]: Tone } = {
  PASS: 'good',
  FAIL: 'bad',
  'NO VERDICT': 'warn',
}
const OUTCOME_TONES: { readonly [outcome in Outcome]: Tone } = {
  ship: 'good',
  hold: 'quiet',
  regress: 'bad',
  inconclusive: 'warn',
  underpowered: 'warn',
  invalid: 'bad',
}

interface Sheet extends Required<Pick<TerminalOptions, 'width' | 'color' | 'unicode' | 'verbose' | 'project'>> {
  readonly ellipsis: string
  readonly scale: Scale
}

/** The report for a terminal or a log: the verdict on line 1, then why, then everything it rests on. */
export function renderTerminal(report: CampaignReport, options: TerminalOptions): string {
  const sheet: Sheet = {
    width: Math.max(40, Math.floor(options.width)),
    color: options.color,
    unicode: options.unicode,
    verbose: options.verbose ?? false,
    project: options.project ?? 'evals',
    ellipsis: options.unicode ? '…' : '...',
    scale: scaleOf(report.design.scale, TYPED),
  }
  const sections = [
    verdict(report, sheet),
    reasons(report, sheet),
    differences(report, sheet),
    levels(report, sheet),
    details(report, sheet),
    coverage(report, sheet),
    variants(report, sheet),
    ...worst(report, sheet),
    failures(report, sheet),
    integrity(report, sheet),
    evidence(report, sheet),
    power(report, sheet),
    path(options.reportPath, sheet),
  ]
  return page(sections, sheet.verbose ? null : LONGEST)
    .map((line) => print(line, sheet))
    .join('\n')
}

function verdict(report: CampaignReport, sheet: Sheet): Section {
  const { word, headline, gate, rule } = report.verdict
  const dated = stale(report.evidence)
  const text = `${dated === null ? '' : `(${dated}) `}${inline(headline)}`
  const [first = word, ...more] = paragraph(`${word}  `, text, sheet, sheet.verbose ? Infinity : 4, 2)
  const where = `${inline(report.file, 200)}${report.line === null ? '' : `:${report.line}`}`
  const judged = gate === 'none' ? 'no gate' : `${gate} gate${rule === null ? '' : `, rule ${inline(rule, 20)}`}`
  const left = `${cutMiddle(inline(report.campaignId), 30, sheet.ellipsis)}  ${judged}`
  return section({
    head: [
      [
        { text: word, tone: WORD_TONES[word] },
        { text: first.slice(word.length), tone: 'strong' },
      ],
      ...more.map((line): Line => [{ text: line, tone: 'strong' }]),
      plain(`${left}  ${cutMiddle(where, Math.max(8, sheet.width - textWidth(left) - 2), sheet.ellipsis)}`),
      plain(cutEnd(designWords(report), sheet.width, sheet.ellipsis)),
    ],
  })
}

function reasons(report: CampaignReport, sheet: Sheet): Section {
  const seen = new Set([report.verdict.headline])
  const texts = [...report.verdict.reasons, ...report.warnings].filter(({ text }) => !seen.has(text) && seen.add(text))
  return section({
    groups: texts.map(({ text }) => paragraph('- ', inline(text), sheet, 2, 2).map(plain)),
    fair: 3,
    least: 1,
    noun: 'reasons and warnings',
  })
}

function differences(report: CampaignReport, sheet: Sheet): Section {
  const { margin, comparator } = report.design
  const { scale } = sheet
  const compared = report.candidates.flatMap((candidate) =>
    candidate.difference === null ? [] : [{ candidate, difference: candidate.difference }],
  )
  if (compared.length === 0) return section({})
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
  const [header = [], ...lines] = forest(title, rows, marks, sheet)
  return section({
    head: [header],
    groups: lines.map((line) => [line]),
    fair: 6,
    least: 2,
    noun: 'candidates',
    spaced: true,
  })
}

function levels(report: CampaignReport, sheet: Sheet): Section {
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
  const [header = [], ...lines] = forest('mean', rows, marks, sheet)
  return section({
    head: [header],
    groups: lines.map((line) => [line]),
    fair: 4,
    least: 1,
    noun: 'variants',
    spaced: true,
  })
}

/** `-6.4 [-10.9, -1.9]`; a star where the interval only describes. */
function estimated(estimate: NonNullable<CandidateReport['difference']>, write: (value: number) => string): string {
  if (estimate.est === null) return unknown(estimate.refused)
  const range = interval(estimate, write)
  if (range === null) return `${write(estimate.est)}, interval ${unknown(estimate.refused)}`
  return `${write(estimate.est)} ${range}${estimate.descriptive ? '*' : ''}`
}

function details(report: CampaignReport, sheet: Sheet): Section {
  const { scale } = sheet
  const unit = scale.unit === 'pp' ? ' pp' : ''
  const groups = bySeverity(report.candidates).flatMap((candidate): Line[][] => {
    const { id, signFlip, adjusted, completeCase, bounds, unseenLoss } = candidate
    const parts: string[] = []
    if (signFlip !== null) {
      const floor = signFlip.pFloor > report.design.alpha / 4 ? `, floor ${pValue(signFlip.pFloor)}` : ''
      parts.push(signFlip.p === null ? `p ${unknown(signFlip.refused)}` : `sign-flip p ${pValue(signFlip.p)}${floor}`)
      if (adjusted.method !== 'none' && adjusted.p !== null) parts.push(`${adjusted.method} ${pValue(adjusted.p)}`)
    }
    if (bounds !== null && bounds.lo !== null && bounds.hi !== null && bounds.lo !== bounds.hi) {
      if (completeCase !== null && completeCase.est !== null) {
        parts.push(`${scale.difference(completeCase.est)}${unit} over the ${completeCase.n} complete`)
      }
      parts.push(`missing cells: ${scale.difference(bounds.lo)} to ${scale.difference(bounds.hi)}${unit}`)
      if (bounds.tippingCells !== null) parts.push(`${plural(bounds.tippingCells, 'failed cell')} would change it`)
    }
    if (unseenLoss !== null) {
      const { lost, units, upperRate } = unseenLoss
      parts.push(`${lost} of ${units} lost over half the scale, a rate of ${percent(upperRate)} is compatible`)
    }
    if (parts.length === 0) return []
    const lead = `  ${cutMiddle(inline(id), 20, sheet.ellipsis)}: `
    return [paragraph(lead, parts.join('; '), sheet, 2, 4).map(plain)]
  })
  return section({ groups, fair: 2 })
}

function coverage(report: CampaignReport, sheet: Sheet): Section {
  const { planned, counts: all, reasons: why } = report.coverage
  const groups: Line[][] = []
  const gone = missing(all)
  if (gone > 0) {
    groups.push(paragraph(`  missing ${grouped(String(gone))}: `, missingWords(all, why), sheet, 2, 4).map(plain))
    const arms = report.variants.filter((variant) => variant.coverage < 1)
    const floor = report.design.coverageFloor
    const low = arms.some((variant) => variant.coverage < floor) ? `; floor ${(floor * 100).toFixed(0)} %` : ''
    const text = arms.map((arm) => `${cutMiddle(inline(arm.id), 30, sheet.ellipsis)} ${measured(arm)}`).join(', ')
    if (arms.length > 0) groups.push(paragraph('  ', text + low, sheet, 2, 4).map(plain))
  }
  const head = paragraph('COVERAGE  ', `${grouped(String(planned))} planned: ${counts(all)}`, sheet, 2, 2)
  return section({ head: head.map(plain), groups, fair: 3, least: 1, spaced: true })
}

function variants(report: CampaignReport, sheet: Sheet): Section {
  const { head, rows, notes } = variantsTable(report, sheet.scale, sheet.width, sheet.ellipsis)
  const tail = notes.flatMap((note) => paragraph('  ', note, sheet, sheet.verbose ? Infinity : 2, 4))
  return section({
    head: [head],
    groups: rows.map((row) => [row]),
    tail: tail.slice(0, sheet.verbose ? undefined : 3).map(plain),
    fair: 6,
    least: 2,
    noun: 'variants',
    spaced: true,
  })
}

function worst(report: CampaignReport, sheet: Sheet): Section[] {
  const touched = bySeverity(report.candidates).filter(
    ({ worst: list, mustPass }) => losses(list).length + mustPass.broken.length > 0,
  )
  return touched.slice(0, sheet.verbose ? undefined : 1).map((candidate) => {
    const { id, mustPass, changed, worst: list } = candidate
    const comparator = report.design.comparator
    const shown = losses(list).slice(0, sheet.verbose ? undefined : WORST)
    const columns: Column[] = [
      { align: 'left', least: 16 },
      { align: 'right', least: 10 },
      { align: 'right', least: 10 },
      { align: 'right' },
    ]
    const rows: Span[][] = [
      [
        { text: `WORST CHANGES (${inline(id)})` },
        { text: comparator === null ? '' : inline(comparator), tone: 'quiet' },
        { text: inline(id), tone: 'quiet' },
        { text: sheet.scale.unit === 'pp' ? 'diff pp' : 'diff', tone: 'quiet' },
      ],
      ...shown.map((change): Span[] => [
        { text: `  ${inline(change.scenario)}` },
        { text: arm(change.comparator, change.comparatorSeeds, sheet.scale) },
        { text: arm(change.candidate, change.candidateSeeds, sheet.scale) },
        { text: change.delta === null ? '' : sheet.scale.difference(change.delta) },
      ]),
    ]
    const [head = [], ...lines] = table(columns, rows, sheet.width, sheet.ellipsis)
    const broken = mustPass.broken.map(({ scenario, failedSeeds }): Line[] => [
      [
        { text: `  must-pass broken: ${cutMiddle(inline(scenario), 36, sheet.ellipsis)}`, tone: 'bad' },
        { text: `  seeds ${failedSeeds.join(', ')}` },
      ],
    ])
    const example = mustPass.broken[0]?.scenario ?? shown[0]?.scenario ?? ''
    const start = '  rerun one: '
    const command = rerunCommand(example, { project: sheet.project, width: sheet.width - start.length })
    const unseen = changed.worse - shown.length
    const rest = [
      ...(unseen > 0 ? [`${unseen} more worse`] : []),
      `${changed.better} better`,
      `${changed.same} unchanged`,
      ...(changed.missing > 0 ? [`${changed.missing} missing`] : []),
    ]
    const others = touched.length > 1 && !sheet.verbose ? `; ${touched.length - 1} more candidates with losses` : ''
    return section({
      head: [head],
      groups: [...broken, ...lines.map((line) => [line])],
      tail: [plain(`  ${comparator === null ? '' : `${rest.join(', ')}${others}`}`), plain(start + command)].filter(
        ([span]) => span?.text.trim() !== '',
      ),
      fair: 6,
      least: 1,
      noun: 'scenarios',
      spaced: true,
    })
  })
}

function losses(changes: readonly ScenarioChange[]): ScenarioChange[] {
  return changes.filter(({ delta }) => delta === null || delta < 0)
}

function arm(mean: number | null, seeds: string, scale: Scale): string {
  if (mean === null) return seeds === '' ? '' : inline(seeds, 40)
  return seeds === '' ? scale.value(mean) : `${inline(seeds, 40)} ${scale.value(mean)}`
}

function failures(report: CampaignReport, sheet: Sheet): Section {
  const groups = report.failures.map(({ class: name, mode, count, example }): Line[] => {
    const label = `  ${grouped(String(count))} ${inline(name, 60)}${mode === null ? '' : ` (${inline(mode, 40)})`}`
    return [plain(cutEnd(example === null ? label : `${label}: ${inline(example, 400)}`, sheet.width, sheet.ellipsis))]
  })
  return section({
    head: groups.length === 0 ? [] : [plain('FAILURES')],
    groups,
    fair: 3,
    least: 1,
    noun: 'classes',
    spaced: true,
  })
}

function integrity(report: CampaignReport, sheet: Sheet): Section {
  const { backend, issues } = report.integrity
  const groups = issues.map(({ code, severity, count, example }): Line[] => {
    const start = `  ${severity}`
    const text = ` ${inline(code, 60)} x ${grouped(String(count))}: ${inline(example, 400)}`
    return [
      [
        { text: start, tone: severity === 'error' ? 'bad' : 'warn' },
        { text: cutEnd(text, sheet.width - start.length, sheet.ellipsis) },
      ],
    ]
  })
  const backing = backend === 'real' || backend === 'none' ? '' : `  backend: ${backend}`
  const head = groups.length > 0 || backing !== '' ? [plain(`INTEGRITY${backing}`)] : []
  return section({ head, groups, fair: 3, least: 1, noun: 'issues' })
}

function evidence(report: CampaignReport, sheet: Sheet): Section {
  const { live, replayed, mixed, carried } = report.evidence
  const dated = stale(report.evidence)
  const fresh = live > 0 ? `${grouped(String(live))} live` : ''
  const text = [fresh, dated ?? ''].filter((part) => part !== '').join('; ')
  if (live + replayed + mixed + carried === 0) return section({ head: [plain('EVIDENCE  none: no cell has run')] })
  return section({ head: [plain(cutEnd(`EVIDENCE  ${text}`, sheet.width, sheet.ellipsis))] })
}

function power(report: CampaignReport, sheet: Sheet): Section {
  const said = bySeverity(report.candidates).flatMap((candidate) => {
    const sentence = powerSentence(report, candidate, sheet.scale)
    return sentence === null ? [] : [{ candidate, sentence }]
  })
  const groups = said.map(({ candidate: { id }, sentence }) => {
    const who = said.length > 1 ? `${cutMiddle(inline(id), 20, sheet.ellipsis)}: ` : ''
    return paragraph('POWER  ', who + sentence, sheet, 2, 2).map(plain)
  })
  return section({ groups, fair: 1, least: 1, noun: 'candidates' })
}

function path(reportPath: string | undefined, sheet: Sheet): Section {
  if (reportPath === undefined) return section({})
  return section({ head: [plain(`report: ${cutMiddle(inline(reportPath), sheet.width - 8, sheet.ellipsis)}`)] })
}

/** Wrapped to the sheet; beyond `longest` lines cut with an ellipsis. */
function paragraph(lead: string, text: string, sheet: Sheet, longest: number, indent: number): string[] {
  const lines = wrap(lead, text, sheet.width, indent)
  const last = lines[longest - 1]
  if (lines.length <= longest || last === undefined) return lines
  const room = sheet.width - textWidth(sheet.ellipsis)
  return [...lines.slice(0, longest - 1), head(last, room).trimEnd() + sheet.ellipsis]
}
