import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import type { Exchange } from '../../../src/core/traffic/exchange.ts'
import { encodeExchange, encodeRecording } from '../../../src/core/traffic/format.ts'
import { encodeSent } from '../../../src/core/traffic/sent.ts'
import { cellTraffic } from '../../../src/plugin/pool/cell-traffic.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { planOf, recordOf } from '../../core/report/records.ts'

const plan = planOf({ scenarios: 1 })
const cell = { variant: 'concise', scenario: 's01', seed: 0 }
const RECORDED = '2026-11-02T10:00:00.000Z'

let root = ''
let runDir = ''

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'traffic-'))
  runDir = join(root, '.evals/run-1')
  await mkdir(join(runDir, 'raw'), { recursive: true })
  const made = root
  onTestFinished(() => rm(made, { recursive: true, force: true }))
})

const recordWith = (parts: Partial<RunRecord> = {}): RunRecord => recordOf(plan, cell, parts)
const trafficOf = (record: RunRecord) => cellTraffic(runDir, root, plan, record)
const rawPath = ({ cellId }: RunRecord, attempt: number): string => join(runDir, 'raw', `${cellId}.${attempt}.jsonl`)
const committed = (): string =>
  recordingPath(join(root, plan.file), {
    campaignId: plan.campaignId,
    variantId: cell.variant,
    scenarioId: cell.scenario,
    seed: 0,
  })

function exchange(answer: string, startedAt = RECORDED): Exchange {
  return {
    role: 'subject',
    key: 'k',
    ordinal: 0,
    request: { method: 'POST', url: 'https://a.example/', headers: [], body: null },
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers: [],
      body: { text: answer },
      cuts: [],
      end: { kind: 'complete' },
    },
    source: 'live',
    startedAt,
    ttfbMs: 1,
    totalMs: 2,
    redactions: [],
    retried: 0,
  }
}

async function writeRecording(...exchanges: Exchange[]): Promise<void> {
  await mkdir(dirname(committed()), { recursive: true })
  const about = { campaignId: plan.campaignId, variantId: cell.variant, scenarioId: cell.scenario, seed: 0 }
  await writeFile(committed(), encodeRecording({ ...about, recordedAt: RECORDED, exchanges }))
}

test('every attempt has its capture, in their order and by their line', async () => {
  const record = recordWith({ attempts: 3 })
  await writeFile(rawPath(record, 1), `${encodeExchange(exchange('first'))}\n`)
  const mark = encodeSent({ role: 'subject', key: 'k', ordinal: 0, at: RECORDED, boundMicroUsd: null })
  await writeFile(
    rawPath(record, 3),
    `${mark}${encodeExchange(exchange('a'))}\n${mark}${encodeExchange(exchange('b'))}\n`,
  )
  const { parts, notes } = trafficOf(record)
  expect(parts.map(({ file, lines, attempt, exchanges }) => [file, lines, attempt, exchanges.length])).toEqual([
    [`raw/${record.cellId}.1.jsonl`, [1], 1, 1],
    [`raw/${record.cellId}.3.jsonl`, [2, 4], 3, 2],
  ])
  expect(parts[1]?.exchanges[1]?.outcome).toMatchObject({ body: { text: 'b' } })
  expect(notes).toEqual([])
})

test('a request that left before the process died is told of', async () => {
  const record = recordWith()
  const mark = encodeSent({ role: 'subject', key: 'k', ordinal: 0, at: RECORDED, boundMicroUsd: null })
  await writeFile(rawPath(record, 1), mark)
  const { notes } = trafficOf(record)
  expect(notes).toEqual([`raw/${record.cellId}.1.jsonl: 1 of its requests left and ended nowhere`])
})

test('a cell that replayed has its recording, behind the header line', async () => {
  await writeRecording(exchange('older'), exchange('newer', '2026-11-02T10:00:01.000Z'))
  const { parts, notes } = trafficOf(recordWith({ provenance: 'replayed', recordedAt: RECORDED }))
  expect(parts).toMatchObject([
    { file: 'evals/__recordings__/triage/concise/s01/0.jsonl', lines: [2, 3], attempt: null, exchanges: [{}, {}] },
  ])
  expect(notes).toEqual([])
})

test('a recording made again since is not shown as what was replayed', async () => {
  await writeRecording(exchange('another', '2026-11-20T10:00:00.000Z'))
  const { parts, notes } = trafficOf(recordWith({ provenance: 'replayed', recordedAt: RECORDED }))
  expect(parts).toEqual([])
  expect(notes).toEqual([
    'evals/__recordings__/triage/concise/s01/0.jsonl was recorded again since this run, which replayed what stood there before',
  ])
})

test('a live cell reads no recording, and one without calls has nothing', async () => {
  await writeRecording(exchange('older'))
  expect(trafficOf(recordWith())).toEqual({ parts: [], notes: [] })
})

test.each([
  ['a torn last line', (text: string) => text.slice(0, -20), /torn and was left out/],
  ['a line that is none', (text: string) => `${text}x\n`, /2: not a JSON line/],
])('%s is a note', async (_, damage, expected) => {
  const record = recordWith()
  await writeFile(rawPath(record, 1), damage(`${encodeExchange(exchange('a'))}\n`))
  const { notes } = trafficOf(record)
  expect(notes).toHaveLength(1)
  expect(notes[0]).toMatch(expected)
})

test('what is not there, or is a link, is a note or nothing, and never an error', async () => {
  const replayed = recordWith({ provenance: 'replayed', recordedAt: RECORDED })
  expect(trafficOf(replayed).notes).toEqual([
    'its recording is not there: another run was replayed, or it was removed since',
  ])
  const secret = join(root, 'secret.jsonl')
  await writeFile(secret, `${encodeExchange(exchange('secret'))}\n`)
  await mkdir(dirname(committed()), { recursive: true })
  await symlink(secret, committed())
  await symlink(secret, rawPath(replayed, 1))
  const { parts, notes } = trafficOf(replayed)
  expect(parts).toEqual([])
  expect(notes.join()).toContain('is a symbolic link')
})
