import type { RunRecord } from '../../core/record/record.ts'
import type { CellTraffic } from '../../core/report/material.ts'
import { plural } from '../numbers.ts'
import { cellCard } from './cell.ts'
import { exchangeMarkup } from './exchange.ts'
import { type Content, type Html, html } from './markup.ts'
import { type Column, cellOf, type Model, type Row } from './model.ts'
import { label, sentence } from './text.ts'

/** Columns beside each other in one detail; a table of more variants is no comparison any more. */
const COLUMNS_SHOWN = 12
const SEEDS_SHOWN = 20
/** Bytes of one cell's exchanges. */
const CELL_SHOWN = 64 * 1024

/** A cell that a detail shows. */
export interface ShownCell {
  readonly column: Column
  readonly record: RunRecord
}

/** The cells of a scenario that its detail shows, in its order. */
export function* cellsShown(model: Model, { at }: Row): Generator<ShownCell> {
  for (let seed = 0; seed < Math.min(SEEDS_SHOWN, model.cells.seeds.length); seed++) {
    for (const column of model.columns.slice(0, COLUMNS_SHOWN)) {
      const record = cellOf(model, column, at, seed)
      if (record !== undefined) yield { column, record }
    }
  }
}

/**
 * A scenario's cells side by side, seed by seed.
 *
 * @param exchanges what stands behind a cell; null: not in this page
 */
export function detailOf(model: Model, { at }: Row, exchanges: (record: RunRecord) => Content): Html {
  const seeds = model.cells.seeds.slice(0, SEEDS_SHOWN)
  const columns = model.columns.slice(0, COLUMNS_SHOWN)
  const left = model.cells.seeds.length - seeds.length
  const dropped = model.columns.length - columns.length
  return html`<details class="dt"><summary>outputs, scores and exchanges of ${plural(seeds.length, 'seed')} × ${plural(columns.length, 'variant')}</summary>
${seeds.map((seed, i) => {
  const cards = columns.map((column) => {
    const record = cellOf(model, column, at, i)
    const twin = column.comparator === null ? undefined : cellOf(model, column.comparator, at, i)
    const behind = record === undefined ? null : column.own ? exchanges(record) : ACCEPTED
    return cellCard(column, record, twin, model.scores, behind)
  })
  return html`<h4>seed ${seed}</h4>
<div class="sides">${cards}</div>
`
})}${left > 0 ? html`<p class="cut">${plural(left, 'more seed')} in records.jsonl.</p>` : null}${dropped > 0 ? html`<p class="cut">${plural(dropped, 'more variant')} in records.jsonl.</p>` : null}</details>`
}

const ACCEPTED = html`<p class="q">An accepted record: its exchanges are not kept with it.</p>`

/** The exchanges of one cell, attempt by attempt, with the file they stand in. */
export function exchangesOf({ parts, notes }: CellTraffic): Html {
  let size = 0
  const told = parts.map(({ file, lines, attempt, exchanges }) => {
    const shown: Html[] = []
    for (const [i, exchange] of exchanges.entries()) {
      const one = exchangeMarkup(exchange, `${file}:${lines[i] ?? '?'}`, attempt === null)
      if (size + one.size > CELL_SHOWN) break
      size += one.size
      shown.push(one)
    }
    const left = exchanges.length - shown.length
    return html`<p class="q">${attempt === null ? 'replayed from' : `attempt ${attempt},`} <code>${label(file, 300)}</code></p>
${shown}${left > 0 ? html`<p class="cut">${plural(left, 'more exchange')} in that file.</p>` : null}`
  })
  const count = parts.reduce((sum, { exchanges }) => sum + exchanges.length, 0)
  const said = notes.map((note) => html`<p class="q">${sentence(note)}</p>`)
  if (count === 0) return said.length === 0 ? html`<p class="q">No exchange was captured.</p>` : html`${said}`
  return html`<details class="exs"><summary>${plural(count, 'exchange')}</summary>
${told}${said}</details>
`
}

export const NO_EXCHANGES: Html = html`<p class="cut">Exchanges not in this page.</p>`
export const NO_DETAIL: Html = html`<p class="cut">Outputs not in this page: <a href="../records.jsonl">records.jsonl</a> has them.</p>`
