/**
 * Sorts and filters the table of scenarios, and nothing else: every row and number is there without it. It makes no
 * markup, reads no text but that of the table, and stores nothing.
 */
export const SCRIPT = `
(() => {
  const table = document.getElementById('sc')
  const form = document.getElementById('filter')
  if (table === null || form === null) return
  const rows = [...table.tBodies]
  const byId = (id) => document.getElementById(id)
  const count = byId('f-count')
  const names = rows.map((row) => row.rows[0].cells[0].textContent.toLowerCase())
  const filter = () => {
    const text = byId('f-text').value.trim().toLowerCase()
    const change = byId('f-change').value
    const status = byId('f-status').value
    const label = byId('f-label').value
    const flaky = byId('f-flaky').checked
    const missing = byId('f-missing').checked
    let shown = 0
    rows.forEach((row, i) => {
      const { c, f, l, m, u } = row.dataset
      const hit =
        (text === '' || names[i].includes(text)) &&
        (change === '' || c === change) &&
        (status === '' || u.includes(' ' + status + ' ')) &&
        (label === '' || l.includes(' ' + label + ' ')) &&
        (!flaky || f === '1') &&
        (!missing || m === '1')
      row.hidden = !hit
      if (hit) shown++
    })
    count.textContent = shown + ' of ' + rows.length + ' shown'
    byId('sc-none').hidden = shown > 0
  }
  const keyOf = (row, at, kind) => {
    const cell = row.rows[0].cells[at]
    if (kind === 'text') return cell.textContent
    return cell.dataset.v === '' ? null : Number(cell.dataset.v)
  }
  const sort = (head, at) => {
    const up = head.getAttribute('aria-sort') !== 'ascending'
    for (const other of head.parentNode.cells) other.setAttribute('aria-sort', 'none')
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending')
    const keys = new Map(rows.map((row) => [row, keyOf(row, at, head.dataset.s)]))
    const sorted = [...rows].sort((a, b) => {
      const x = keys.get(a)
      const y = keys.get(b)
      if (x === y) return 0
      if (x === null) return 1
      if (y === null) return -1
      return (x < y ? -1 : 1) * (up ? 1 : -1)
    })
    table.append(...sorted)
  }
  const heads = table.tHead.rows[0].cells
  for (let at = 0; at < heads.length; at++) {
    const head = heads[at]
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...head.childNodes)
    head.append(button)
    head.setAttribute('aria-sort', 'none')
    button.addEventListener('click', () => sort(head, at))
  }
  form.addEventListener('input', filter)
  form.addEventListener('reset', () => setTimeout(filter))
  form.addEventListener('submit', (event) => event.preventDefault())
  form.hidden = false
  filter()
})()
`
