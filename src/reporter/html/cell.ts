import { PREVIEW_LENGTH } from '../../core/record/output.ts'
import type { RecordedScore, RunRecord } from '../../core/record/record.ts'
import type { CellStatus } from '../../core/record/status.ts'
import { digits, dollars, duration, PRINTED, plural, type Scale, tokenPair } from '../numbers.ts'
import { block, type Content, type Html, html } from './markup.ts'
import type { Column } from './model.ts'
import { cut, label, sentence } from './text.ts'

/** Code units of an output that are shown; records keep fewer. */
const OUTPUT_SHOWN = 2_048
const RATIONALE_SHOWN = 1_000
const SCORES_LISTED = 20
const ISSUES_LISTED = 10

const STATUS_SIGNS: { readonly [status in CellStatus]: string } = {
  scored: '●',
  task_fail: '✗',
  infra_error: '◌',
  judge_error: '◌',
  capture_error: '◌',
  skipped: '◌',
  not_run: '◌',
}

/**
 * One cell: what came out, how it was scored and why, what it took.
 *
 * @param twin the comparator's cell: an output equal to its own is not repeated
 * @param exchanges what stands behind it, or why that is not here
 */
export function cellCard(
  column: Column,
  record: RunRecord | undefined,
  twin: RunRecord | undefined,
  scores: Scale,
  exchanges: Content,
): Html {
  const name = html`<h5><span class="letter">${column.letter}</span> ${label(column.summary.id, 60)}</h5>`
  if (record === undefined) return html`<article class="cell">${name}<p>◌ not run: no record</p></article>`
  const { status, reason, score, pass, failure, output, integrity } = record
  return html`<article class="cell">${name}
<p><span class="chip u-${status}">${STATUS_SIGNS[status]} ${status}${reason === undefined ? null : ` (${reason})`}</span> ${status === 'scored' && score !== null ? scored(score, pass, scores) : null}</p>
${outputOf(output, twin?.output ?? null)}
${failure === null ? null : html`<p class="t-bad">✗ ${failure.class}${failure.mode === undefined ? null : ` (${label(failure.mode, 80)})`}${failure.message === undefined ? null : ':'}</p>${failure.message === undefined ? null : block(cut(failure.message, 2_000))}`}
${scoreList(record.scores)}
${integrity.issues.slice(0, ISSUES_LISTED).map(({ code, severity, message }) => html`<p class="${severity === 'error' ? 't-bad' : 't-open'}">${severity === 'error' ? '✗' : '!'} ${code}: ${sentence(message)}</p>`)}
<p class="q">${facts(record).join(' · ')}</p>
${exchanges}</article>
`
}

function scored(score: number, pass: boolean | null, scores: Scale): Html {
  const number = html`<strong>${scores.value(score)}</strong>`
  if (pass === null) return number
  return pass
    ? html`<span class="t-good">✓ ${number} passed</span>`
    : html`<span class="t-bad">✗ ${number} failed</span>`
}

function outputOf(output: RunRecord['output'], twin: RunRecord['output']): Html | null {
  if (output === null) return null
  if (twin !== null && twin.digest === output.digest)
    return html`<p class="q">The same output as the comparator, byte for byte.</p>`
  const partial = output.path !== undefined || output.preview.length >= PREVIEW_LENGTH - 1
  return html`${block(cut(output.preview, OUTPUT_SHOWN))}${
    partial
      ? html`<p class="cut">The first ${output.preview.length} characters${output.path === undefined ? '' : html`; whole in <code>${label(output.path, 200)}</code>`}.</p>`
      : null
  }`
}

function scoreList(all: { readonly [name: string]: RecordedScore }): Html | null {
  const entries = Object.entries(all)
  if (entries.length === 0) return null
  const items = entries.slice(0, SCORES_LISTED).map(([name, { value, pass, role, rationale, error }]) => {
    const sign = error !== undefined ? '!' : pass === null ? '·' : pass ? '✓' : '✗'
    const tone = error !== undefined || pass === false ? 't-bad' : pass === true ? 't-good' : 'q'
    return html`<li><span class="${tone}">${sign}</span> ${label(name, 60)} <strong>${value === null ? 'no score' : digits(value, PRINTED)}</strong> <span class="q">${role}</span>${
      rationale === undefined ? null : html`<blockquote>${block(cut(rationale, RATIONALE_SHOWN))}</blockquote>`
    }${error === undefined ? null : block(cut(error, RATIONALE_SHOWN))}</li>`
  })
  const left = entries.length - items.length
  return html`<ul class="scores">${items}${left > 0 ? html`<li>${left} more scores</li>` : null}</ul>`
}

function facts(record: RunRecord): string[] {
  const { attempts, wallMs, providerMs, queueMs, cost, tokens, model, provenance, recordedAt, calls, startedAt } =
    record
  const served = model.served.length > 0 ? model.served : model.requested
  const time =
    wallMs !== null ? duration(wallMs) : providerMs === null ? null : `${duration(providerMs)} at the provider`
  const used = tokenPair(tokens, PRINTED)
  const made = calls.subject + calls.judge + calls.setup
  return [
    attempts === 1 ? null : attempts === 0 ? 'never started' : `${attempts} attempts`,
    served.length === 0
      ? null
      : served
          .slice(0, 4)
          .map((name) => label(name, 60))
          .join(', '),
    time,
    queueMs >= 1_000 ? `waited ${duration(queueMs)}` : null,
    cost.usd === null
      ? 'cost unknown'
      : `${dollars(cost.usd)}${cost.provenance === 'estimated' ? ' at list price' : ''}`,
    used === null ? null : `${used} tokens`,
    `${plural(made, 'model call')}${calls.retried > 0 ? `, ${plural(calls.retried, 'retry', 'retries')}` : ''}${calls.mocked > 0 ? `, ${calls.mocked} mocked` : ''}`,
    `${provenance}${recordedAt === null ? '' : `, recorded ${recordedAt}`}`,
    startedAt === null ? null : `started ${startedAt}`,
  ].filter((fact) => fact !== null)
}
