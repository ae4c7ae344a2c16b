// node journal-child.mjs append|parse|open <folder> <in flight>: what bench/journal.mjs measures, in a process of its own.
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createAppender } from './node_modules/vitest-campaign/dist/core/journal/append.js'
import { encodeLine } from './node_modules/vitest-campaign/dist/core/journal/line.js'
import { readJournal } from './node_modules/vitest-campaign/dist/core/journal/read.js'
import { openJournalFile } from './node_modules/vitest-campaign/dist/plugin/pool/journal-file.js'

const [, , what, folder, inFlight] = process.argv
const APPENDED = 20_000
const journal = join(folder, 'journal.jsonl')

const recordsOf = () =>
  readFileSync(join(folder, 'records.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')

/** Every record of the folder as a settled line. */
function writeJournal() {
  if (existsSync(journal)) return
  const file = openSync(journal, 'w')
  recordsOf().forEach((record, seq) => {
    writeSync(file, encodeLine(seq, { kind: 'settled', json: `{"kind":"settled","record":${record}}` }))
  })
  closeSync(file)
}

/**
 * So many cells at a time, each waiting until its own record is durable; `attainable` is what the disk's own syncs would
 * allow: records per batch × fdatasync rate.
 */
async function append() {
  const path = join(folder, 'appended.jsonl')
  rmSync(path, { force: true })
  const lines = recordsOf().slice(0, APPENDED)
  const file = await openJournalFile(path)
  let syncs = 0
  let syncMs = 0
  const timed = {
    write: (data) => file.write(data),
    async sync() {
      const start = performance.now()
      await file.sync()
      syncMs += performance.now() - start
      syncs++
    },
    close: () => file.close(),
  }
  const appender = createAppender(timed, { name: path })
  let next = 0
  const cell = async () => {
    while (next < lines.length) {
      await appender.append({ kind: 'settled', json: `{"kind":"settled","record":${lines[next++]}}` })
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: Number(inFlight) }, cell))
  const wallMs = performance.now() - start
  await appender.close()
  return {
    perSecond: (lines.length / wallMs) * 1000,
    attainable: (lines.length / syncMs) * 1000,
    batch: lines.length / syncs,
  }
}

function parse() {
  writeJournal()
  const bytes = readFileSync(journal)
  return cpu(() => {
    const kept = []
    for (let from = 0, end = bytes.indexOf(10); end >= 0; from = end + 1, end = bytes.indexOf(10, from)) {
      kept.push(JSON.parse(bytes.toString('utf8', from, end)))
    }
    return kept.length
  })
}

function openJournal() {
  writeJournal()
  const bytes = readFileSync(journal)
  return cpu(() => readJournal(bytes, journal).entries.length)
}

function cpu(work) {
  const before = process.cpuUsage()
  const entries = work()
  const { user, system } = process.cpuUsage(before)
  return { cpuMs: (user + system) / 1000, entries }
}

const measured = await { append, parse, open: openJournal }[what]()
process.stdout.write(`${JSON.stringify(measured)}\n`)
