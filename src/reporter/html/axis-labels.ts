import type { Axis } from './axis.ts'
import { type Html, html } from './markup.ts'

/** Labels of the ticks, those at the ends turned inwards so that none is cut off. */
export function axisLabels(axis: Axis, write: (value: number) => string, y: number): Html {
  return html`${axis.ticks.map((tick) => {
    const at = axis.at(tick)
    const anchor = at < 6 ? 'start' : at > 94 ? 'end' : 'middle'
    return html`<text x="${at}%" y="${y}" text-anchor="${anchor}">${write(tick)}</text>`
  })}`
}

/** Labels left of a chart, in a drawing of their own: the chart keeps the rest of the width. */
export function yLabels(labels: readonly (readonly [y: number, words: string])[]): Html {
  return html`<svg class="ys" width="52" height="1" aria-hidden="true">${labels.map(([y, words]) => html`<text x="46" y="${y + 4}" text-anchor="end">${words}</text>`)}</svg>`
}
