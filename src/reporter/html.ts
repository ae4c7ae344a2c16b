import type { CampaignMaterial } from '../core/report/material.ts'
import type { CampaignReport } from '../core/report/report.ts'
import { inlined } from './html/budget.ts'
import { capacity } from './html/capacity.ts'
import { coverage } from './html/coverage.ts'
import { failures } from './html/failures.ts'
import { guardrails } from './html/guardrails.ts'
import { judges } from './html/judges.ts'
import { latencies } from './html/latency.ts'
import { type Html, html } from './html/markup.ts'
import { method } from './html/method.ts'
import { type Model, modelOf } from './html/model.ts'
import { page } from './html/page.ts'
import { scenarios } from './html/scenarios.ts'
import { slices } from './html/slices.ts'
import { spread } from './html/spread.ts'
import { label } from './html/text.ts'
import { variants } from './html/variants.ts'
import { verdict } from './html/verdict.ts'

interface Part {
  readonly id: string
  readonly name: string
  readonly render: (model: Model) => Html | null
}

/** What stands before the table of scenarios, and behind it. */
const BEFORE: readonly Part[] = [
  { id: 'verdict', name: 'Verdict', render: verdict },
  { id: 'guardrails', name: 'Guardrails', render: guardrails },
  { id: 'coverage', name: 'Coverage', render: coverage },
]
const BEHIND: readonly Part[] = [
  { id: 'variants', name: 'Quality and cost', render: variants },
  { id: 'latency', name: 'Latency', render: latencies },
  { id: 'judges', name: 'Judges', render: judges },
  { id: 'failures', name: 'Failures', render: failures },
  { id: 'capacity', name: 'Capacity and budget', render: capacity },
  { id: 'spread', name: 'Scenarios or seeds', render: spread },
  { id: 'slices', name: 'Slices', render: slices },
  { id: 'method', name: 'Method', render: method },
]

/**
 * A campaign as one HTML file that loads nothing and needs no script, from the verdict down to the exchanges of a cell.
 * A pure function of the report and what it was computed from: the same bytes whenever it is rendered.
 *
 * @param name of the files of this campaign in the folder of reports, without extension
 */
export function renderHtml(report: CampaignReport, material: CampaignMaterial, name: string): string {
  const model = modelOf(report, material)
  const rendered = (parts: readonly Part[]) =>
    parts.flatMap(({ id, name: title, render }) => {
      const markup = render(model)
      return markup === null ? [] : [{ id, name: title, markup }]
    })
  const [before, behind] = [rendered(BEFORE), rendered(BEHIND)]
  const taken = [...before, ...behind].reduce((sum, { markup }) => sum + markup.size, 0)
  const table = scenarios(model, inlined(model, material.traffic, taken))
  const all = [...before, ...(table === null ? [] : [{ id: 'scenarios', name: 'Scenarios', markup: table }]), ...behind]
  return String(
    page({
      title: label(report.campaignId, 200),
      about: html`<p class="q">Eval campaign · <code>${label(report.line === null ? report.file : `${report.file}:${report.line}`, 300)}</code> · run <code>${label(model.runId, 200)}</code> · <a href="../../index.html">all runs</a></p>`,
      sections: all,
      main: all.map(({ markup }) => markup),
      footer: html`<p>The same as data: <a href="${name}.json">report</a>, <a href="${name}.md">Markdown</a>, <a href="../records.jsonl">records of the run</a>. These links need the folder of the run around this file; everything else is in it.</p>`,
    }),
  )
}
