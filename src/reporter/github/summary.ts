import type { CampaignReport } from '../../core/report/report.ts'
import { inline } from '../inline.ts'
import { SECTIONS, type Section, type SectionName, sectionsOf } from '../markdown/sections.ts'
import { code, html, text } from '../markdown/text.ts'
import { lost } from '../markdown/worst.ts'
import { plural } from '../numbers.ts'
import { rerunCommand } from '../rerun.ts'
import type { ScenarioTable } from '../scenarios.ts'
import { bySeverity } from '../sentences.ts'

export interface SummarizedCampaign {
  readonly report: CampaignReport
  readonly table: ScenarioTable
  /** Path of the whole report in the project. */
  readonly path: string
}

export interface Summarized {
  readonly project: string
  /** Root of the project from where commands are typed; empty: there. */
  readonly root: string
  readonly campaigns: readonly SummarizedCampaign[]
  /** Why the run is red beside its reports; empty where it is not. */
  readonly problems: readonly string[]
  readonly notes: readonly string[]
}

/** How much may be written, in the unit that the reader counts in. */
export interface Room {
  readonly limit: number
  readonly measure: (text: string) => number
}

const ROWS = 20
const FEWER_ROWS = 5
/** Notes and problems listed. */
const NOTES = 20
/** What a reader needs at first sight; everything else is folded away. */
const OPEN: ReadonlySet<SectionName> = new Set(['verdict', 'candidates', 'power', 'guardrails', 'next'])
/** Sections in the order in which they go where there is no room: what a decision needs least goes first. */
const CUT_ORDER: readonly SectionName[] = [
  'slices',
  'spread',
  'tests',
  'judges',
  'method',
  'variants',
  'failures',
  'integrity',
  'coverage',
  'worst scenarios',
  'power',
  'guardrails',
  'next',
  'candidates',
]

const SIGNS = { PASS: '✅ ', FAIL: '❌ ', 'NO VERDICT': '⚠️ ' } as const

/**
 * A run as Markdown for GitHub, the worst verdict first, as much of it as there is room for. What was cut is said.
 *
 * @returns empty where not even the first verdict finds room
 */
export function renderSummary(run: Summarized, { limit, measure }: Room): string {
  const ordered = { ...run, campaigns: run.campaigns.toSorted((a, b) => gravity(a.report) - gravity(b.report)) }
  // Rendered once for each number of rows: a run may have many campaigns, and there are many cuts.
  const rendered = new Map<number, readonly Section[][]>()
  for (const cut of cuts()) {
    const sections = rendered.get(cut.rows) ?? ordered.campaigns.map((campaign) => sectionsWith(campaign, cut.rows))
    rendered.set(cut.rows, sections)
    const document = documentOf(ordered, sections, cut)
    if (measure(document) <= limit) return document
  }
  return headsOf(ordered, { limit, measure })
}

interface Cut {
  readonly rows: number
  readonly gone: ReadonlySet<SectionName>
}

function* cuts(): Generator<Cut> {
  yield { rows: ROWS, gone: new Set() }
  for (let count = 0; count <= CUT_ORDER.length; count++) {
    yield { rows: FEWER_ROWS, gone: new Set(CUT_ORDER.slice(0, count)) }
  }
}

function sectionsWith({ report, table }: SummarizedCampaign, rows: number): Section[] {
  return sectionsOf(report, {
    rows,
    sign: SIGNS[report.verdict.word],
    outputOf: (variant, scenario) => table.get(variant, scenario)?.worst?.output ?? null,
  })
}

function documentOf(run: Summarized, sections: readonly Section[][], cut: Cut): string {
  const missed = new Set<SectionName>()
  const parts = run.campaigns.map(({ report }, at) => {
    const all = sections[at] ?? []
    for (const { name } of all) if (cut.gone.has(name)) missed.add(name)
    const kept = all.filter(({ name }) => !cut.gone.has(name))
    return [...kept.map((section) => (isOpen(section, report) ? open(section) : folded(section))), rerun(run, report)]
      .filter((part) => part !== '')
      .join('\n\n')
  })
  return whole(run, parts, cutWords(cut, missed, run))
}

function cutWords({ rows }: Cut, missed: ReadonlySet<SectionName>, { campaigns }: Summarized): string {
  if (rows === ROWS) return ''
  const gone = SECTIONS.filter((name) => missed.has(name))
  const sections = gone.length === 0 ? '' : ` and without ${gone.join(', ')}`
  const paths = campaigns.slice(0, FEWER_ROWS).map(({ path }) => code(path, 200))
  const more = campaigns.length > paths.length ? ', …' : ''
  return `_Cut to fit: lists at ${rows} rows${sections}._ The whole report: ${paths.join(', ')}${more} in the run's folder.`
}

/** The verdicts alone, as many as there is room for. */
function headsOf(run: Summarized, { limit, measure }: Room): string {
  const heads = run.campaigns.map(
    ({ report: { campaignId, verdict } }) =>
      `### ${SIGNS[verdict.word]}${verdict.word}: ${code(campaignId, 100)}: ${text(verdict.headline, 200)}`,
  )
  for (let count = heads.length; count > 0; count = Math.floor(count / 2)) {
    const left = heads.length - count
    const words = `_Cut to fit: verdicts alone${left === 0 ? '' : `, and ${plural(left, 'campaign')} not listed`}._`
    const document = whole({ ...run, notes: [] }, heads.slice(0, count), words)
    if (measure(document) <= limit) return document
  }
  const document = whole({ ...run, notes: [] }, [], '_Cut to fit: there is no room for a verdict._')
  return measure(document) <= limit ? document : ''
}

function whole({ problems, notes }: Summarized, parts: readonly string[], cut: string): string {
  const [first, ...more] = problems.slice(0, NOTES)
  const red = first === undefined ? [] : [`### ${SIGNS.FAIL}FAIL: ${text(first, 600)}`, list(more)]
  if (first === undefined && parts.length === 0 && cut === '')
    red.push(`### ${SIGNS['NO VERDICT']}NO VERDICT: this run decided nothing`)
  const said = notes.filter((note) => !problems.includes(note)).slice(0, NOTES)
  return `${[...red, ...parts, list(said.map((note) => `note: ${note}`)), cut].filter((part) => part !== '').join('\n\n')}\n`
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${text(line, 600)}`).join('\n')
}

function isOpen({ name }: Section, { integrity }: CampaignReport): boolean {
  return OPEN.has(name) || (name === 'integrity' && integrity.issues.some(({ severity }) => severity === 'error'))
}

function open({ title, body }: Section): string {
  return title === '' ? body : `#### ${title}\n\n${body}`
}

function folded({ name, title, of, gist, body }: Section): string {
  const words = [
    title === '' ? name.replace(/^./, (first) => first.toUpperCase()) : title,
    of === undefined ? '' : `of ${html(of, 200)}`,
  ]
  const said = gist === undefined || gist === '' ? '' : `: ${html(gist)}`
  const summary = `${words.filter((word) => word !== '').join(' ')}${said}`
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`
}

/** How to look at the worst scenario of a red gate. */
function rerun({ project, root }: Summarized, report: CampaignReport): string {
  if (!report.verdict.red) return ''
  for (const candidate of bySeverity(report.candidates)) {
    const scenario = candidate.mustPass.broken[0]?.scenario ?? lost(candidate)[0]?.scenario
    if (scenario !== undefined) return `Rerun one: ${code(rerunCommand(scenario, { project, root, width: 160 }))}`
  }
  return ''
}

function gravity({ verdict: { red, word } }: CampaignReport): number {
  return red ? 0 : word === 'NO VERDICT' ? 1 : 2
}

/** The comment's first line, by which the next run finds it; GitHub does not show it. */
export function markerOf(project: string): string {
  return `<!-- vitest-campaign:${inline(project).replace(/[^\w.]+/g, '-') || 'evals'} -->`
}
