import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idProblem } from '../../../src/core/campaign/identity.ts'
import { segmentOf } from '../../../src/core/campaign/segment.ts'
import { placeholderKeys } from '../../../src/plugin/replay/keys.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { project, serve } from './harness.ts'

const coordinates = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }

test.each([
  ['plain', 'plain'],
  ['gpt-5.1_mini', 'gpt-5.1_mini'],
  ['a/b', /^a_b-[0-9a-f]{8}$/],
  ['../x', /^_\._x-[0-9a-f]{8}$|^__x-[0-9a-f]{8}$/],
  ['A', /^A-[0-9a-f]{8}$/],
  ['.hidden', /^_hidden-[0-9a-f]{8}$/],
  ['nul', /^nul-[0-9a-f]{8}$/],
  ['a-0123abcd', /^a-0123abcd-[0-9a-f]{8}$/],
  ['x'.repeat(61), /^x{60}-[0-9a-f]{8}$/],
  ['日本語', /^___-[0-9a-f]{8}$/],
])('segment of %j', (id, expected) => {
  const segment = segmentOf(id)
  if (typeof expected === 'string') expect(segment).toBe(expected)
  else expect(segment).toMatch(expected)
})

test('no two ids share a segment, however the disk compares names, and none is more than a name', () => {
  const id = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.constantFrom('a/b', 'a.b', 'a_b', 'A', 'a', '..', '.', 'con'),
  )
  fc.assert(
    fc.property(id, id, (one, other) => {
      fc.pre(idProblem(one) === null && idProblem(other) === null)
      const segment = segmentOf(one)
      expect(segment).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)
      expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(69)
      if (one !== other) expect(segment.toLowerCase()).not.toBe(segmentOf(other).toLowerCase())
    }),
  )
})

async function recorded(evalProject: ReturnType<typeof project>, path = '/') {
  const { url } = await serve((_, response) => response.end('ok'))
  const run = evalProject.start('record')
  try {
    return await run.cell(async () => (await fetch(`${url}${path}`)).text(), { save: true })
  } finally {
    run.end()
  }
}

test('a recording is one file of mode 0600, replaced whole, without leftovers', async () => {
  const evalProject = project()
  const path = recordingPath(evalProject.evalFile, coordinates)
  await recorded(evalProject, '/first')
  await recorded(evalProject, '/second')
  expect(readdirSync(dirname(path))).toEqual(['0.jsonl'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const text = readFileSync(path, 'utf8')
  expect(text.split('\n')).toHaveLength(3)
  expect(text).toContain('/second')
})

test('a cell that makes no call has no recording, and loses an old one', async () => {
  const evalProject = project()
  await recorded(evalProject)
  const run = evalProject.start('record')
  await run.cell(async () => 'pure', { save: true })
  expect(readdirSync(dirname(recordingPath(evalProject.evalFile, coordinates)))).toEqual([])
})

test('a replayed or live cell writes nothing', async () => {
  const evalProject = project()
  await recorded(evalProject)
  const path = recordingPath(evalProject.evalFile, coordinates)
  const before = readFileSync(path, 'utf8')
  for (const policy of ['replay', 'new'] as const) {
    const run = evalProject.start(policy)
    await run.cell(async () => (await fetch('https://api.openai.com/')).status, { save: true })
    run.end()
    expect(readFileSync(path, 'utf8')).toBe(before)
  }
})

test('symbolic links are not followed', async () => {
  const evalProject = project()
  const elsewhere = join(evalProject.root, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(evalProject.root, '__recordings__'))
  await expect(recorded(evalProject)).rejects.toThrow('__recordings__ is a symbolic link')
  expect(readdirSync(elsewhere)).toEqual([])
  await expect(evalProject.start('replay').open()).rejects.toThrow('is a symbolic link')
})

test.each([
  ['torn', (text: string) => text.slice(0, -30), /the last line is torn/],
  ['of another cell', (text: string) => text.replace('"refund"', '"other"'), /says scenarioId "other"/],
  [
    'not JSON',
    (text: string) => text.replace('{"role"', '<<<<<<< ours\n{"role"'),
    /0\.jsonl:2: an unresolved merge conflict/,
  ],
])('a recording that is %s is an error that names the file', async (_, damage, message) => {
  const evalProject = project()
  await recorded(evalProject)
  const path = recordingPath(evalProject.evalFile, coordinates)
  writeFileSync(path, damage(readFileSync(path, 'utf8')))
  await expect(evalProject.start('replay').open()).rejects.toThrow(message)
})

test('live exchanges are appended to the raw capture of their attempt, replayed ones are not', async () => {
  const evalProject = project()
  await recorded(evalProject)
  const folder = join(evalProject.root, '.evals', 'run', 'raw')
  expect(readdirSync(folder)).toEqual(['c0ffee0000000000.1.jsonl'])
  const file = join(folder, 'c0ffee0000000000.1.jsonl')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).outcome.body),
  ).toEqual([{ text: 'ok' }])
  const run = evalProject.start('replay')
  await run.cell(async () => (await fetch('https://api.openai.com/')).status, { attempt: 2 })
  expect(readdirSync(folder)).toHaveLength(1)
})

test('no secret reaches the recording, the raw capture or the result', async () => {
  const secret = 'sk-live0123456789ABCDEFGHIJ'
  const { url } = await serve((request, response) => {
    response.setHeader('set-cookie', 'session=hush').setHeader('x-echo', request.headers.authorization ?? '')
    response.write(`{"key":"${secret.slice(0, 9)}`)
    setTimeout(() => response.end(`${secret.slice(9)}"}`), 5)
  })
  const evalProject = project()
  const run = evalProject.start('record')
  const ask = (cell: { fetch: typeof fetch }) =>
    cell
      .fetch(`${url}/?api_key=${secret}&q=1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ note: `my key is ${secret}` }),
      })
      .then((response) => response.text())
  const { value, result } = await run.cell(ask, { save: true })
  expect(value).toBe(`{"key":"${secret}"}`)
  run.end()
  const files = [
    recordingPath(evalProject.evalFile, coordinates),
    join(evalProject.root, '.evals/run/raw/c0ffee0000000000.1.jsonl'),
  ].map((file) => readFileSync(file, 'utf8'))
  for (const text of [...files, JSON.stringify(result)]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain('hush')
  }
  expect(result.exchanges[0]?.redactions.length).toBeGreaterThan(0)
  // The request of a run with another key, or none, is the same request.
  const replaying = evalProject.start('replay')
  const again = await replaying.cell((cell) =>
    cell
      .fetch(`${url}/?q=1`, {
        method: 'POST',
        body: JSON.stringify({ note: `my key is ${secret.replace('live', 'test')}` }),
      })
      .then((response) => response.text()),
  )
  expect(again.value).toMatch(/^\{"key":"\[redacted:[a-z-]+\]"\}$/)
})

test('placeholder keys: what is unset, unless another credential of the SDK is there', () => {
  expect(placeholderKeys({})).toContain('OPENAI_API_KEY')
  expect(placeholderKeys({ OPENAI_API_KEY: 'x' })).not.toContain('OPENAI_API_KEY')
  expect(placeholderKeys({ OPENAI_API_KEY: '' })).toContain('OPENAI_API_KEY')
  expect(placeholderKeys({ ANTHROPIC_AUTH_TOKEN: 'x' })).not.toContain('ANTHROPIC_API_KEY')
  expect(placeholderKeys({ GOOGLE_API_KEY: 'x' })).not.toContain('GEMINI_API_KEY')
  expect(placeholderKeys({})).not.toContain('GOOGLE_API_KEY')
})

const WRITER = `
const { workerData } = require('node:worker_threads')
void (async () => {
  const { writeRecording } = await import(workerData.disk)
  const shared = new Map([['big.bin', Buffer.alloc(200_000, 'a')]])
  for (let n = 1; n <= 40; n++) {
    // All of them begin each round together.
    Atomics.add(workerData.arrived, 0, 1)
    Atomics.notify(workerData.arrived, 0)
    for (let now; (now = Atomics.load(workerData.arrived, 0)) < n * workerData.threads; ) {
      Atomics.wait(workerData.arrived, 0, now, 60_000)
    }
    await writeRecording(workerData.place, 'line ' + 'x'.repeat(5_000) + '\\n', shared)
  }
})()
`

test('threads of one process write the same recording and the same body at the same time', async () => {
  const { root } = project()
  const place = { base: root, folders: ['__recordings__', 'c'], file: '0.jsonl' }
  const disk = new URL('../../../dist/plugin/replay/disk.js', import.meta.url).href
  const workerData = { disk, place, threads: 3, arrived: new Int32Array(new SharedArrayBuffer(4)) }
  const ends = await Promise.all([1, 2, 3].map(() => once(new Worker(WRITER, { eval: true, workerData }), 'exit')))
  expect(ends.flat()).toEqual([0, 0, 0])
  expect(readdirSync(join(root, '__recordings__', 'c'))).toEqual(['0.jsonl'])
  expect(readdirSync(join(root, '__recordings__', '_bodies'))).toEqual(['big.bin'])
})
