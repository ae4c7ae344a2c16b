import { grouped, plural } from '../numbers.ts'
import { type Content, type Html, html } from './markup.ts'
import { page } from './page.ts'
import type { ListedReport, ListedRun } from './runs.ts'
import { label, section, sentence, table } from './text.ts'

/** Marks of earlier verdicts beside a campaign. */
const HISTORY = 20

/** `.evals/index.html`: the campaigns with their newest verdict and those before, then every run. */
export function renderIndex(runs: readonly ListedRun[], older: number): string {
  return String(
    page({
      title: 'Eval campaigns',
      about: html`<p class="q">${plural(runs.length, 'run')}, newest first${older > 0 ? `; ${grouped(String(older))} older ones are not listed` : null}</p>`,
      sections: [
        { id: 'campaigns', name: 'Campaigns' },
        { id: 'runs', name: 'Runs' },
      ],
      main: html`${campaigns(runs)}${section('runs', 'Runs', runTable(runs))}`,
      footer: html`<p>This file lists the folders beside it, and is written again after every run.</p>`,
    }),
  )
}

interface Entry {
  readonly run: ListedRun
  readonly report: ListedReport
}

function campaigns(runs: readonly ListedRun[]): Html | null {
  const by = new Map<string, Entry[]>()
  for (const run of runs) {
    for (const report of run.reports) by.set(report.campaignId, [...(by.get(report.campaignId) ?? []), { run, report }])
  }
  const rows = [...by].map(([campaignId, entries]) => {
    const [newest] = entries
    if (newest === undefined) return []
    return [
      newest.report.files.html
        ? html`<a href="${linkTo(newest, 'html')}">${label(campaignId)}</a>`
        : html`${label(campaignId)}`,
      word(newest.report),
      sentence(newest.report.verdict.headline),
      html`${entries.slice(0, HISTORY).map((entry) => mark(entry))}`,
      html`<code>${newest.run.runId}</code>`,
    ]
  })
  if (rows.length === 0) return section('campaigns', 'Campaigns', html`<p>No run has given a report yet.</p>`)
  return section(
    'campaigns',
    'Campaigns',
    table(
      'Campaigns',
      [
        { title: 'campaign', heads: true },
        { title: 'newest verdict' },
        { title: 'headline' },
        { title: 'verdicts, newest first' },
        { title: 'run' },
      ],
      rows,
    ),
  )
}

const SIGNS: { readonly [word: string]: readonly [sign: string, tone: string] } = {
  PASS: ['✓', 'good'],
  FAIL: ['✗', 'bad'],
}

function word({ verdict }: ListedReport): Html {
  const [sign, tone] = SIGNS[verdict.word] ?? ['?', 'open']
  return html`<span class="t-${tone}"><strong>${sign} ${label(verdict.word, 20)}</strong></span>${verdict.outcome === null ? null : html` <span class="q">${label(verdict.outcome, 20)}</span>`}`
}

function mark(entry: Entry): Html {
  const { run, report } = entry
  const [sign, tone] = SIGNS[report.verdict.word] ?? ['?', 'open']
  const words = `${label(report.verdict.word, 20)} in ${run.runId}`
  return report.files.html
    ? html`<a class="t-${tone} mark" href="${linkTo(entry, 'html')}" aria-label="${words}" title="${words}">${sign}</a> `
    : html`<span class="t-${tone} mark" title="${words}">${sign}</span> `
}

function runTable(runs: readonly ListedRun[]): Content {
  if (runs.length === 0) return html`<p>There is no run yet.</p>`
  return table(
    'Runs',
    [
      { title: 'run', heads: true },
      { title: 'started' },
      { title: 'traffic' },
      { title: 'commit' },
      { title: 'cells', align: 'right' },
      { title: 'campaigns' },
    ],
    runs.map((run) => {
      const { runId, manifest, reports } = run
      const given = new Set(reports.map(({ campaignId }) => campaignId))
      const others = (manifest?.campaigns ?? []).filter(({ campaignId }) => !given.has(campaignId))
      return [
        html`<code>${runId}</code>`,
        manifest === null
          ? 'unknown'
          : html`${label(manifest.startedAt, 40)}${manifest.end === 'finished' ? null : html`<br><span class="t-open">? ${manifest.end === null ? 'no end: killed, or still running' : label(manifest.end, 40)}</span>`}`,
        manifest === null
          ? 'unknown'
          : html`${label(manifest.policy.traffic, 40)} <span class="q">${sentence(manifest.policy.reason)}</span>`,
        manifest === null || manifest.commit.sha === null
          ? 'unknown'
          : html`<code>${label(manifest.commit.sha.slice(0, 10), 20)}</code>${manifest.commit.dirty ? ' dirty' : null}`,
        manifest === null ? 'unknown' : counted(manifest.campaigns),
        html`${reports.map((report) => html`<p>${word(report)} ${links({ run, report })}</p>`)}${others.map(({ campaignId, skipped }) => html`<p class="q">${label(campaignId)}: ${skipped ? 'skipped' : 'no report'}</p>`)}`,
      ]
    }),
  )
}

function counted(all: readonly { readonly planned: number; readonly recorded: number }[]): string {
  const sum = (of: 'planned' | 'recorded'): string => grouped(String(all.reduce((total, one) => total + one[of], 0)))
  return `${sum('recorded')}/${sum('planned')}`
}

function links(entry: Entry): Html {
  const { campaignId, files } = entry.report
  const name = label(campaignId)
  return html`${files.html ? html`<a href="${linkTo(entry, 'html')}">${name}</a>` : name}${files.md ? html` · <a href="${linkTo(entry, 'md')}">Markdown</a>` : null} · <a href="${linkTo(entry, 'json')}">JSON</a>`
}

const linkTo = ({ run, report }: Entry, extension: string): string =>
  `${encodeURIComponent(run.runId)}/reports/${encodeURIComponent(report.name)}.${extension}`
