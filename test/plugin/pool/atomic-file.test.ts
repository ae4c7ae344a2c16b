import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { writeAtomic } from '../../../src/plugin/pool/atomic-file.ts'

/** Reads a file again and again until it is told to stop, and tells what it saw. */
const READER = `
const { parentPort, workerData } = require('node:worker_threads')
const { readFileSync } = require('node:fs')
let reads = 0
const bad = []
const seen = new Set()
let going = true
parentPort.once('message', () => { going = false })
function poll() {
  for (let i = 0; i < 20; i++) {
    reads++
    try {
      const { at, fill } = JSON.parse(readFileSync(workerData, 'utf8'))
      if (fill.length !== 20000) bad.push(fill.length)
      seen.add(at)
    } catch (error) {
      bad.push(String(error))
    }
  }
  if (reads === 20) parentPort.postMessage('reads')
  if (going) setImmediate(poll)
  else parentPort.postMessage({ reads, bad, seen: seen.size })
}
poll()
`

test('scenario 51: of 500 atomic writes a reader that polls sees each as a whole or not at all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vitest-campaign-atomic-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'status.json')
  const content = (at: number): string => JSON.stringify({ at, fill: String(at % 10).repeat(20_000) })
  await writeAtomic(path, content(0))
  const reader = new Worker(READER, { eval: true, workerData: path })
  onTestFinished(async () => void (await reader.terminate()))
  await once(reader, 'message')
  for (let at = 1; at <= 500; at++) {
    // Lists are written in pieces, and shown as a whole too.
    await writeAtomic(path, at % 2 === 0 ? content(at) : [content(at).slice(0, 9_000), content(at).slice(9_000)])
  }
  reader.postMessage('stop')
  const [{ reads, bad, seen }] = (await once(reader, 'message')) as [{ reads: number; bad: unknown[]; seen: number }]
  expect(bad).toEqual([])
  expect(reads).toBeGreaterThan(20)
  expect(seen).toBeGreaterThan(1)
  expect(await readFile(path, 'utf8')).toBe(content(500))
  expect(await readdir(folder)).toEqual(['status.json'])
  if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a list of lines is written as they stand, however long each is and whatever it is made of', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vitest-campaign-atomic-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lengths = [0, 1, 700_000, 400_000, 1_048_576, 1_048_577, 2_500_000, 3]
  const lines = lengths.flatMap((length) => ['x'.repeat(length), '\u20ac\u{1f600}é'.repeat(Math.ceil(length / 9))])
  for (const list of [[], [''], lines, lines.toReversed()]) {
    const path = join(folder, 'list')
    await writeAtomic(path, list)
    expect((await readFile(path, 'utf8')) === list.join('')).toBe(true)
  }
})
