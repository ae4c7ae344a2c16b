import type { Body, Exchange, ExchangeResponse, HeaderList } from '../../core/traffic/exchange.ts'
import { duration, grouped, plural } from '../numbers.ts'
import { linearAxis } from './axis.ts'
import { indented } from './indent.ts'
import { block, type Content, type Html, html } from './markup.ts'
import { cut, label, sentence } from './text.ts'

/** Code units of a body that are shown. */
const REQUEST_SHOWN = 4_096
const RESPONSE_SHOWN = 8_192
const HEADERS_SHOWN = 40
/** Chunks of a stream that are listed one by one. */
const CUTS_LISTED = 60
const BINARY_SHOWN = 256

/** One exchange, down to the wire: request, response, where the stream was cut, what was redacted. */
export function exchangeMarkup(exchange: Exchange, where: string, recorded: boolean): Html {
  const { role, request, outcome, source, ttfbMs, totalMs, retried, redactions, startedAt, ordinal } = exchange
  const ended = outcome.kind === 'fault' ? `${outcome.phase} fault ${label(outcome.code, 40)}` : String(outcome.status)
  const facts = [
    // A recording says how its calls were made then.
    recorded ? 'recorded' : source,
    ttfbMs === null ? null : `first byte after ${duration(ttfbMs)}`,
    totalMs === null ? 'duration unknown' : `${duration(totalMs)} in all`,
    retried > 0 ? plural(retried, 'retry', 'retries') : null,
    startedAt,
    ordinal > 0 ? `call ${ordinal + 1} of this kind` : null,
  ].filter((fact) => fact !== null)
  return html`<details class="ex"><summary><span class="chip">${role}</span> <code>${label(request.method, 20)} ${label(request.url, 160)}</code> → <strong>${ended}</strong> <span class="q">${totalMs === null ? null : duration(totalMs)}</span></summary>
<p class="q">${facts.join(' · ')} · <code>${where}</code></p>
${redactions.length === 0 ? html`<p class="q">Nothing was redacted.</p>` : html`<p>Redacted: ${redactions.map(({ rule, count }) => `${label(rule, 60)} × ${count}`).join(', ')}</p>`}
<div class="sides"><div><h5>Request</h5>
${headers(request.headers)}${body(request.body, REQUEST_SHOWN)}</div>
<div><h5>${outcome.kind === 'fault' ? 'No response' : `Response ${outcome.status} ${label(outcome.statusText, 60) === '(empty)' ? '' : label(outcome.statusText, 60)}`}</h5>
${
  outcome.kind === 'fault'
    ? html`<p>${outcome.phase}: <code>${label(outcome.code, 60)}</code> ${sentence(outcome.message)}</p>`
    : html`${headers(outcome.headers)}${body(outcome.body, RESPONSE_SHOWN)}${ending(outcome)}${stream(outcome)}`
}</div></div>
</details>
`
}

function headers(all: HeaderList): Html {
  if (all.length === 0) return html`<p class="q">No headers.</p>`
  const shown = all.slice(0, HEADERS_SHOWN)
  return html`<details><summary>${plural(all.length, 'header')}</summary>
${block(shown.map(([name, value]) => `${cut(name, 100)}: ${cut(value, 400)}`).join('\n'))}${all.length > shown.length ? html`<p class="cut">${all.length - shown.length} more headers</p>` : null}</details>
`
}

function body(of: Body, max: number): Content {
  if (of === null) return html`<p class="q">No body.</p>`
  if ('base64' in of) {
    return html`<p class="q">Binary, ${grouped(String(Math.floor((of.base64.length * 3) / 4)))} bytes, as base64:</p>${block(cut(of.base64, BINARY_SHOWN))}`
  }
  const written = indented(of.text)
  const rest = written.length - max
  return html`${block(cut(written, max))}${rest > 0 ? html`<p class="cut">${grouped(String(rest))} more characters are in the file.</p>` : null}`
}

function ending({ end }: ExchangeResponse): Html | null {
  switch (end.kind) {
    case 'complete':
      return null
    case 'client-abort':
      return html`<p class="t-open">? The client aborted before the body had ended.</p>`
    case 'broken':
      return html`<p class="t-bad">✗ The connection broke: <code>${label(end.code, 60)}</code> ${sentence(end.message)}</p>`
    case 'cut':
      return html`<p class="cut">Only the beginning of ${grouped(String(end.bytes))} bytes was kept.</p>`
  }
}

/** The chunks of a streamed body on a time line, and in words. */
function stream({ cuts }: ExchangeResponse): Html | null {
  if (cuts.length < 2) return null
  let at = 0
  let bytes = 0
  const marks = cuts.map(([size, ms]) => {
    at += ms
    bytes += size
    return at
  })
  const axis = linearAxis([0, ...marks], 0.02)
  const drawn = marks.filter((_, i) => i % Math.ceil(marks.length / 200) === 0)
  const words = `${plural(cuts.length, 'chunk')}, ${plural(bytes, 'byte')} over ${duration(at)}`
  return html`<p>Streamed: ${words}</p>
<svg class="cuts" width="100%" height="16" role="img" aria-label="${words}"><line class="l-zero" x1="${axis.at(0)}%" x2="${axis.at(at)}%" y1="8" y2="8"/>${drawn.map((ms) => html`<line class="ci" x1="${axis.at(ms)}%" x2="${axis.at(ms)}%" y1="3" y2="13"/>`)}</svg>
<details><summary>chunks: bytes after milliseconds</summary>
<p class="q">${cuts
    .slice(0, CUTS_LISTED)
    .map(([size, ms]) => `${size} after ${Math.round(ms * 10) / 10}`)
    .join(', ')}${cuts.length > CUTS_LISTED ? `, and ${cuts.length - CUTS_LISTED} more` : ''}</p></details>
`
}
