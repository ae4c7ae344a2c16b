// One side of bench/traffic.mjs, in a process of its own: node traffic-side.mjs <side> <calls> [<upstream>]
// Prints {"side", "ms": wall of the calls, "cpuMs"}.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [side, callsText, upstream] = process.argv.slice(2)
const calls = Number(callsText)
const atOnce = 20
/** Calls before the measurement: an engine that has not compiled yet is not what is compared. */
const WARM = 500
/** A cell holds so many calls. */
const PER_CELL = 50

const content = 'a thousand bytes of an answer. '.repeat(30)
const answer = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const bodyOf = (n) =>
  JSON.stringify({ model: 'm', seed: n, messages: [{ role: 'user', content: content.slice(0, 900) }] })
const init = (n) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: bodyOf(n) })

/** Makes the calls, so many at once, and measures them. */
async function timed(call, total = calls) {
  let next = 0
  const upTo = async (end) => {
    const work = async () => {
      while (next < end) await call(next++)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }
  await upTo(WARM)
  const cpu = process.cpuUsage()
  const start = performance.now()
  await upTo(WARM + total)
  const { user, system } = process.cpuUsage(cpu)
  return { ms: performance.now() - start, cpuMs: (user + system) / 1000 }
}

const read = async (response) => {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return response.text()
}

async function ours(policy, url, runDir, pick, save) {
  const { installTraffic } = await import('../dist/plugin/replay/install.js')
  const { encodeRecording } = await import('../dist/core/traffic/format.js')
  const { matchKey } = await import('../dist/core/traffic/match.js')
  const { writeRecording } = await import('../dist/plugin/replay/disk.js')
  const { recordingPlace } = await import('../dist/plugin/replay/path.js')
  // The main process makes the run folder before a worker starts.
  await mkdir(join(runDir, 'run'))
  const evalFile = join(runDir, 'a.eval.ts')
  const coordinates = (seed) => ({ campaignId: 'c', variantId: 'v', scenarioId: 's', seed })
  const cells = Math.ceil((calls + WARM) / PER_CELL)
  if (policy === 'replay') {
    for (let seed = 0; seed < cells; seed++) {
      const exchanges = Array.from({ length: PER_CELL }, (_, at) => {
        const request = {
          ...{ method: 'POST', url, headers: [['content-type', 'application/json']] },
          body: { text: bodyOf(seed * PER_CELL + at) },
        }
        return {
          ...{ role: 'subject', key: matchKey(request).key, ordinal: 0, request, source: 'live' },
          outcome: {
            ...{ kind: 'response', status: 200, statusText: 'OK', headers: [['content-type', 'application/json']] },
            ...{ body: { text: answer }, cuts: [], end: { kind: 'complete' } },
          },
          ...{ startedAt: '2026-01-01T00:00:00.000Z', ttfbMs: 1, totalMs: 1, redactions: [], retried: 0 },
        }
      })
      const recording = { ...coordinates(seed), recordedAt: '2026-01-01T00:00:00.000Z', exchanges }
      await writeRecording(recordingPlace(evalFile, coordinates(seed)), encodeRecording(recording))
    }
  }
  const settings = {
    ...{
      root: runDir,
      runDir: join(runDir, 'run'),
      policy,
      policyReason: 'bench',
      replayRun: null,
      timeoutMs: 600_000,
    },
    ...{ passthrough: [], projectName: 'evals', placeholderKeys: [] },
    traffic: { timing: 'instant', recut: 'recorded', allow: [], volatile: [], rules: [], pii: false },
    record: { cwd: runDir, start: '', end: '' },
  }
  const port = {
    admitted: async () => {},
    permit: () => ({ reply: Promise.resolve({ granted: true, waitedMs: 0 }), done() {} }),
    unattributed() {},
    late() {},
  }
  const traffic = installTraffic(settings, port)
  const signal = new AbortController().signal
  const open = (seed) =>
    traffic.openCell({
      ...{ cellId: `c${seed}`, coordinates: coordinates(seed), attempt: 1, evalFile, declaredLane: null, signal },
      leftMs: () => 600_000,
      ...{ routes: null, mocks: [], canaries: [] },
    })
  const opened = new Map()
  const left = new Map()
  const result = await timed(async (n) => {
    const seed = Math.floor(n / PER_CELL)
    if (!opened.has(seed)) opened.set(seed, open(seed))
    const cell = await opened.get(seed)
    await traffic.run(cell, 'subject', async () => read(await pick(cell)(url, init(n))))
    left.set(seed, (left.get(seed) ?? PER_CELL) - 1)
    if (left.get(seed) > 0) return
    await cell.close(1000)
    if (save) await cell.save()
    opened.delete(seed)
  })
  traffic.dispose()
  return result
}

const folder = await mkdtemp(join(tmpdir(), 'vitest-campaign-bench-'))
const url = upstream || 'http://api.example.com/v1/chat/completions'
const viaFetch = () => fetch
const viaContext = (cell) => cell.fetch

const SIDES = {
  async msw() {
    const { http, HttpResponse } = await import('msw')
    const { setupServer } = await import('msw/node')
    const server = setupServer(
      http.all('*', async ({ request }) => {
        await request.text()
        return new HttpResponse(answer, { headers: { 'content-type': 'application/json' } })
      }),
    )
    server.listen({ onUnhandledRequest: 'error' })
    return timed(async (n) => read(await fetch(url, init(n))))
  },
  async SnapshotAgent() {
    const { fetch: undiciFetch, SnapshotAgent } = await import('undici')
    const snapshotPath = join(folder, 'snapshots.json')
    const recorder = new SnapshotAgent({ mode: 'record', snapshotPath, maxSnapshots: 1_000_000 })
    for (let n = 0; n < calls + WARM; n++) await read(await undiciFetch(url, { ...init(n), dispatcher: recorder }))
    await recorder.saveSnapshots(snapshotPath)
    const agent = new SnapshotAgent({ mode: 'playback', snapshotPath, maxSnapshots: 1_000_000 })
    return timed(async (n) => read(await undiciFetch(url, { ...init(n), dispatcher: agent })))
  },
  intercepted: () => ours('replay', url, folder, viaFetch, false),
  'ctx.fetch': () => ours('replay', url, folder, viaContext, false),
  async 'plain fetch'() {
    return timed(async (n) => read(await fetch(url, init(n))))
  },
  'live, not recorded': () => ours('live', url, folder, viaFetch, false),
  recorded: () => ours('record', url, folder, viaFetch, true),
}

try {
  process.stdout.write(`${JSON.stringify({ side, ...(await SIDES[side]()) })}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
