import type { CampaignReport } from '../core/report/report.ts'
import { budgetSentence } from './budget.ts'
import { laneSentences } from './capacity.ts'
import { inline } from './inline.ts'
import { judgeSentences } from './judges.ts'
import { grouped, scaleOf, TYPED } from './numbers.ts'
import {
  bySeverity,
  counts,
  designWords,
  frontierSentence,
  furtherReasons,
  measured,
  missing,
  missingWords,
  powerSentence,
  preregSentence,
  seedsSentence,
  silentWords,
  splitSentences,
  stale,
} from './sentences.ts'
import { details, differences, levels } from './terminal/comparison.ts'
import { guardrails } from './terminal/guardrails.ts'
import { type Line, plain, print, type Tone } from './terminal/line.ts'
import { page, type Section, section } from './terminal/page.ts'
import { paragraph, type Sheet, sentence } from './terminal/sheet.ts'
import { variantsTable } from './terminal/variants.ts'
import { cutEnd, cutMiddle, textWidth } from './terminal/width.ts'
import { worst } from './terminal/worst.ts'

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
  /** Root of the run relative to where the user stands, for that command; default '' (they stand in it). */
  readonly root?: string
}

const LONGEST = 40

const WORD_TONES: { readonly [word in CampaignReport['verdict']['word']]: Tone } = {
  PASS: 'good',
  FAIL: 'bad',
  'NO VERDICT': 'warn',
}
/** The report for a terminal or a log: the verdict on line 1, then why, then everything it rests on. */
export function renderTerminal(report: CampaignReport, options: TerminalOptions): string {
  const sheet: Sheet = {
    width: Math.max(40, Math.floor(options.width)),
    color: options.color,
    unicode: options.unicode,
    verbose: options.verbose ?? false,
    project: options.project ?? 'evals',
    root: options.root ?? '',
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
    guardrails(report, sheet),
    variants(report, sheet),
    ...worst(report, sheet),
    failures(report, sheet),
    integrity(report, sheet),
    evidence(report, sheet),
    power(report, sheet),
    ...asides(report, sheet),
    next(report, sheet),
    path(options.reportPath, sheet),
  ]
  return page(sections, sheet.verbose ? null : LONGEST)
    .map((line) => print(line, sheet))
    .join('\n')
}

function verdict(report: CampaignReport, sheet: Sheet): Section {
  const { word, headline, gate, rule, exitCode } = report.verdict
  const dated = stale(report.evidence)
  const text = `${dated === null ? '' : `(${dated}) `}${sentence(headline, sheet)}`
  const [first = word, ...more] = paragraph(`${word}  `, text, sheet, sheet.verbose ? Infinity : 4, 2)
  const where = `${inline(report.file, 200)}${report.line === null ? '' : `:${report.line}`}`
  const judged =
    gate === 'none'
      ? 'no gate'
      : `${gate} gate${rule === null ? '' : `, rule ${inline(rule, 20)}`}, vitest-campaign gate exits ${exitCode}`
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
  const texts = furtherReasons(report)
  return section({
    groups: texts.map((text) => paragraph('- ', sentence(text, sheet), sheet, 3, 2).map(plain)),
    fair: 3,
    least: 0,
    noun: ['reason or warning', 'reasons and warnings'],
  })
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
    noun: ['variant', 'variants'],
    spaced: true,
  })
}

/** Distinct messages of one cluster on a page that is not verbose. */
const MESSAGES = 3

function failures(report: CampaignReport, sheet: Sheet): Section {
  const groups = report.failures.map(({ class: name, mode, count, messages, distinct, variants: by }): Line[] => {
    const whose = by.map(({ variant, count: own }) => `${inline(variant, 20)} ${grouped(String(own))}`).join(', ')
    const where = by.length === 0 || report.variants.length < 2 ? '' : ` [${whose}]`
    const label = `  ${grouped(String(count))} ${inline(name, 60)}${mode === null ? '' : ` (${inline(mode, 40)})`}${where}`
    const [only] = messages
    if (only === undefined) return [plain(cutEnd(label, sheet.width, sheet.ellipsis))]
    if (distinct === 1) return paragraph(`${label}: `, inline(only.text, 400), sheet, 2, 4).map(plain)
    const shown = messages.slice(0, sheet.verbose ? undefined : MESSAGES)
    const unseen = distinct - shown.length
    return [
      plain(cutEnd(label, sheet.width, sheet.ellipsis)),
      ...shown.map(({ text, count: own }) => {
        const start = `    ${grouped(String(own))} x `
        return plain(start + cutEnd(inline(text, 400), sheet.width - start.length, sheet.ellipsis))
      }),
      ...(unseen > 0 ? [plain(`    and ${grouped(String(unseen))} other messages`)] : []),
    ]
  })
  return section({
    head: groups.length === 0 ? [] : [plain('FAILURES')],
    groups,
    fair: 3,
    least: 0,
    noun: ['class', 'classes'],
    spaced: true,
  })
}

function integrity(report: CampaignReport, sheet: Sheet): Section {
  const { backend, issues } = report.integrity
  const groups = issues.map(({ code, severity, count, example }): Line[] => {
    const start = `  ${severity}`
    // The end of a message says what to do: it is wrapped before it is cut.
    const text = `${inline(code, 60)} x ${grouped(String(count))}: ${inline(example, 1_000)}`
    const longest = sheet.verbose ? Infinity : severity === 'error' ? 5 : 2
    return paragraph(`${start} `, text, sheet, longest, 4).map(
      (line, at): Line =>
        at === 0
          ? [{ text: start, tone: severity === 'error' ? 'bad' : 'warn' }, { text: line.slice(start.length) }]
          : plain(line),
    )
  })
  const backing = backend === 'real' || backend === 'none' ? '' : `  backend: ${backend}`
  const head = groups.length > 0 || backing !== '' ? [plain(`INTEGRITY${backing}`)] : []
  return section({ head, groups, fair: 3, least: 1, noun: ['issue', 'issues'] })
}

function evidence(report: CampaignReport, sheet: Sheet): Section {
  const { live, replayed, mixed, carried, silent } = report.evidence
  const dated = stale(report.evidence)
  const fresh = live > 0 ? `${grouped(String(live))} live` : ''
  const text = [fresh, dated ?? '', silentWords(report.evidence)].filter((part) => part !== '').join('; ')
  if (live + replayed + mixed + carried + silent === 0)
    return section({ head: [plain('EVIDENCE  none: no cell has run')] })
  return section({ head: [plain(cutEnd(`EVIDENCE  ${text}`, sheet.width, sheet.ellipsis))] })
}

function power(report: CampaignReport, sheet: Sheet): Section {
  const said = bySeverity(report.candidates).flatMap((candidate) => {
    const sentence = powerSentence(report, candidate, sheet.scale)
    return sentence === null ? [] : [{ candidate, sentence }]
  })
  const bought = bySeverity(report.candidates).flatMap(({ id, power, outcome }) =>
    !power.advice ||
    (outcome !== 'inconclusive' && outcome !== 'underpowered') ||
    // What to buy stands among what to do next.
    report.actions.some(({ code, text }) => code === 'buy' && text.startsWith(`${id}: `))
      ? []
      : paragraph(
          'SPREAD  ',
          `${report.candidates.length > 1 ? `${cutMiddle(inline(id), 20, sheet.ellipsis)}: ` : ''}${inline(power.advice)}`,
          sheet,
          2,
          2,
        ).map(plain),
  )
  const groups = said.map(({ candidate: { id }, sentence }) => {
    const who = said.length > 1 ? `${cutMiddle(inline(id), 20, sheet.ellipsis)}: ` : ''
    return paragraph('POWER  ', who + sentence, sheet, 2, 2).map(plain)
  })
  return section({
    groups: bought.length === 0 ? groups : [...groups.slice(0, 1), bought, ...groups.slice(1)],
    fair: 2,
    least: 1,
  })
}

/** Seeds, frontier, splits, preregistration: a line each, the first to go where the page is short. */
function asides(report: CampaignReport, sheet: Sheet): Section[] {
  const line = (title: string, text: string | null): Section =>
    text === null || text === ''
      ? section({})
      : section({ groups: [paragraph(`${title}  `, text, sheet, sheet.verbose ? Infinity : 2, 2).map(plain)], fair: 0 })
  return [
    line('BUDGET', budgetSentence(report)),
    ...laneSentences(report).map((said) => line('LANE', said)),
    line('SEEDS', report.variants.flatMap((variant) => seedsSentence(variant) ?? []).join('; ')),
    line('FRONTIER', frontierSentence(report)),
    line('SPLITS', splitSentences(report, sheet.scale).join('; ')),
    line('PREREG', preregSentence(report)),
    ...report.judges.flatMap((judge) => judgeSentences(judge).map((said) => line('JUDGE', said))),
  ]
}

/** What to do next; the headline says why. */
function next(report: CampaignReport, sheet: Sheet): Section {
  const groups = report.actions.map(({ text }) => paragraph('NEXT  ', sentence(text, sheet), sheet, 2, 2).map(plain))
  return section({ groups, fair: 2, least: 0 })
}

function path(reportPath: string | undefined, sheet: Sheet): Section {
  if (reportPath === undefined) return section({})
  return section({ head: [plain(`report: ${cutMiddle(inline(reportPath), sheet.width - 8, sheet.ellipsis)}`)] })
}
