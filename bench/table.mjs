/** A Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export const count = (cells) => cells.toLocaleString('en-US')
export const seconds = (ms) => (ms === null ? '–' : `${(ms / 1000).toFixed(2)} s`)
export const micros = (ms, cells) => `${Math.round((ms * 1000) / cells)} µs`
export const megabytes = (mb) => (mb === null ? '–' : `${Math.round(mb)} MB`)
export const times = (a, b) => (a === null || b === null ? '–' : `${(a / b).toFixed(2)}×`)
