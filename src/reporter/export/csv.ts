import type { RunRecord } from '../../core/record/record.ts'
import { printable } from '../../core/traffic/hostile.ts'

type Value = string | number | boolean | null | undefined
type Column = readonly [title: string, of: (record: RunRecord) => Value]

const COLUMNS: readonly Column[] = [
  ['runId', (r) => r.runId],
  ['campaignId', (r) => r.campaignId],
  ['cellId', (r) => r.cellId],
  ['variantId', (r) => r.variantId],
  ['scenarioId', (r) => r.scenarioId],
  ['family', (r) => r.family],
  ['seed', (r) => r.seed],
  ['split', (r) => r.split],
  ['lane', (r) => r.lane],
  ['status', (r) => r.status],
  ['reason', (r) => r.reason],
  ['score', (r) => r.score],
  ['pass', (r) => r.pass],
  ['failure.class', (r) => r.failure?.class],
  ['failure.mode', (r) => r.failure?.mode],
  ['failure.message', (r) => r.failure?.message],
  ['output.preview', (r) => r.output?.preview],
  ['output.digest', (r) => r.output?.digest],
  ['model.requested', (r) => r.model.requested.join(' ')],
  ['model.served', (r) => r.model.served.join(' ')],
  ['attempts', (r) => r.attempts],
  ['startedAt', (r) => r.startedAt],
  ['recordedAt', (r) => r.recordedAt],
  ['queueMs', (r) => Math.round(r.queueMs)],
  ['wallMs', (r) => wholeMs(r.wallMs)],
  ['providerMs', (r) => wholeMs(r.providerMs)],
  ['tokens.input', (r) => r.tokens.input],
  ['tokens.output', (r) => r.tokens.output],
  ['tokens.reasoning', (r) => r.tokens.reasoning],
  ['tokens.cacheRead', (r) => r.tokens.cacheRead],
  ['tokens.cacheWrite', (r) => r.tokens.cacheWrite],
  ['tokens.known', (r) => r.tokens.known],
  ['cost.usd', (r) => r.cost.usd],
  ['cost.provenance', (r) => r.cost.provenance],
  ['cost.subjectUsd', (r) => r.cost.subjectUsd],
  ['cost.judgeUsd', (r) => r.cost.judgeUsd],
  ['calls.subject', (r) => r.calls.subject],
  ['calls.judge', (r) => r.calls.judge],
  ['calls.setup', (r) => r.calls.setup],
  ['calls.retried', (r) => r.calls.retried],
  ['calls.mocked', (r) => r.calls.mocked],
  ['provenance', (r) => r.provenance],
  ['integrity.ok', (r) => r.integrity.ok],
  ['integrity.issues', (r) => r.integrity.issues.map(({ code, severity }) => `${code} (${severity})`).join(' ')],
  ['commit.sha', (r) => r.commit.sha],
  ['commit.dirty', (r) => r.commit.dirty],
]

const wholeMs = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

/**
 * Records as CSV (RFC 4180: CRLF, quotes doubled), one row per cell, for spreadsheets. Unknown is an empty field. Text is
 * made safe to open: control characters are shown as escapes, and what a spreadsheet would take for a formula begins with
 * `'`. Scores, metrics and tags have columns of their own by name.
 *
 * @param records gives the same records each time: they are read twice, first for the names of the columns
 */
export function* csvOf(records: () => Iterable<RunRecord>): Generator<string> {
  const columns = [...COLUMNS, ...named(records())]
  yield row(columns.map(([title]) => title))
  for (const record of records()) yield row(columns.map(([, of]) => of(record)))
}

function named(records: Iterable<RunRecord>): Column[] {
  const scores = new Set<string>()
  const metrics = new Set<string>()
  const tags = new Set<string>()
  for (const record of records) {
    for (const name of Object.keys(record.scores)) scores.add(name)
    for (const name of Object.keys(record.metrics)) metrics.add(name)
    for (const name of Object.keys(record.tags)) tags.add(name)
  }
  return [
    ...Array.from(scores, (name): Column[] => [
      [`scores.${name}`, (r) => own(r.scores, name)?.value],
      [`scores.${name}.pass`, (r) => own(r.scores, name)?.pass],
      [`scores.${name}.rationale`, (r) => own(r.scores, name)?.rationale],
      [`scores.${name}.error`, (r) => own(r.scores, name)?.error],
    ]).flat(),
    ...Array.from(metrics, (name): Column => [`metrics.${name}`, (r) => own(r.metrics, name)]),
    ...Array.from(tags, (name): Column => [`tags.${name}`, (r) => own(r.tags, name)]),
  ]
}

function own<T>(of: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

function row(values: readonly Value[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/** What Excel, LibreOffice and Google Sheets read a formula into, behind any blanks; full-width signs too. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/

function field(value: Value): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const shown = printable(value)
  const safe = FORMULA.test(shown) ? `'${shown}` : shown
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
