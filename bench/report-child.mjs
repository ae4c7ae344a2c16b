// node report-child.mjs parse|report <folder>: what bench/report.mjs measures, in a process of its own.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { buildReport, parseRecord } from 'vitest-campaign/core'

const CHUNK = 1 << 18
const NEWLINE = 10

/** The lines of a file, one chunk in memory at a time. */
function* lines(path) {
  const file = openSync(path, 'r')
  const chunk = Buffer.allocUnsafe(CHUNK)
  let rest = Buffer.alloc(0)
  for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield bytes.toString('utf8', from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
  closeSync(file)
}

const [, , what, folder] = process.argv
const path = join(folder, 'records.jsonl')
const { plan, fingerprint } = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'))

function* records() {
  let line = 0
  for (const text of lines(path)) yield parseRecord(JSON.parse(text), `${path}:${++line}`)
}

const before = process.cpuUsage()
const start = performance.now()
let headline = ''
if (what === 'parse') {
  const kept = []
  for (const text of lines(path)) kept.push(JSON.parse(text))
  headline = `${kept.length} records`
} else {
  headline = buildReport({ plan, fingerprint, records: records(), problems: [] }).verdict.headline
}
const { user, system } = process.cpuUsage(before)
const result = {
  wallMs: performance.now() - start,
  cpuMs: (user + system) / 1000,
  rssMb: process.resourceUsage().maxRSS / 1024,
  headline,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
