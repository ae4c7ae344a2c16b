import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RunStatus } from '../../../src/plugin/pool/status.ts'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, startVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'

const CELLS = 6

test('status.json says where the run stands and why it waits; onRecord sees every record once, and loses nothing', async () => {
  let asked = 0
  const provider = await startProvider((_, response) => {
    if (asked++ > 0) return false
    const held = { 'content-type': 'application/json', 'retry-after': '5' }
    response.writeHead(429, held).end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
    return true
  })
  const root = await project('capacity')
  const seen = join(root, 'seen.txt')
  const capacity = { cells: 4, lanes: [{ match: '*', concurrency: 1, requestsPerMinute: 500 }] }
  const env = { FILES: 'asks.eval.ts', CELLS: String(CELLS), ON_RECORD: seen, OPTIONS: JSON.stringify({ capacity }) }
  const run = startVitest(root, ['--project', 'evals'], { ...provider.env, ...env })

  let over = false
  const end = run.done.then(() => {
    over = true
  })
  let held: RunStatus | null = null
  while (held === null) {
    if (over) throw new Error(`the run ended without a hold in its status:\n${run.printed()}`)
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 100))])
    const status = await statusOf(root).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return null
    })
    if (status?.lanes.some(({ hold }) => hold !== null)) held = status
  }
  const { code, output } = await run.done
  expect(code, output).toBe(0)
  expectCleanOutput(output)

  expect(held).toMatchObject({
    state: 'running',
    cells: { planned: CELLS, done: 0, inFlight: 1, cap: 4, waiting: CELLS - 1 },
    statuses: {},
    lanes: [
      {
        lane: 'openai/gpt-5-mini',
        cells: 1,
        requests: 0,
        cap: 1,
        waiting: { cells: CELLS - 1, judges: 0, requests: 1 },
        requestsPerMinute: { used: 1, limit: 500 },
        hold: { reason: expect.stringContaining('429 rate_limit') },
        closed: null,
      },
    ],
  })
  expect(held.lanes[0]?.why.map(({ kind }) => kind)).toContain('hold')
  expect(await statusOf(root)).toMatchObject({
    state: 'finished',
    cells: { planned: CELLS, done: CELLS, inFlight: 0, waiting: 0 },
    statuses: { scored: CELLS },
    live: CELLS,
    etaMs: null,
  })

  const { records } = await inspectRun(root)
  const told = (await readFile(seen, 'utf8')).trim().split('\n')
  expect(told.toSorted()).toEqual(records.map(({ cellId }) => cellId).toSorted())
  expect(output).toContain('onRecord failed, and the run goes on: the listener is wrong')
  expect(output).toContain('onRecord failed, and the run goes on: the listener is late')
})

async function statusOf(root: string): Promise<RunStatus> {
  const runId = (await readFile(join(root, '.evals/latest'), 'utf8')).trim()
  return RunStatus.parse(JSON.parse(await readFile(join(root, '.evals', runId, 'status.json'), 'utf8')))
}
