import { expect, test } from 'vitest'
import { decodeRecording } from '../../../src/core/traffic/format.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { recordings } from './project.ts'
import { type Answer, startProvider } from './provider.ts'

const json = { 'content-type': 'application/json', 'retry-after-ms': '1' }
const FILES = 'swallowed.eval.ts'
const file = (id: string): string => `__recordings__/swallowed/plain/${id}/0.jsonl`
const BROKEN = ['broken', 'fails', 'judged']

test('a fault that nobody tells of is warned about and never recorded, a fault that a retry survived is', async () => {
  let down = true
  let throttled = 0
  const provider = await startProvider(({ body }, response) => {
    if (down && body.includes('"broken"')) {
      response.writeHead(500, json).end('{"error":{"message":"we are on fire","type":"server_error"}}')
    } else if (body.includes('"retried"') && throttled++ % 2 === 0) {
      response.writeHead(429, json).end('{"error":{"message":"slow down please","type":"rate_limit_error"}}')
    } else if (body.includes('"page"')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>')
    } else return false
    return true
  })
  const env = { ...provider.env, FILES }
  const root = await project('modes')
  const record = ['--project', 'evals', '-t', 'swallowed']

  const first = await runVitest(root, record, env)
  const run = await inspectRun(root)
  const codes = (id: string) => run.cell('swallowed', id).integrity.issues.map(({ code }) => code)
  expect(codes('fine')).not.toContain('provider_fault_swallowed')
  expect(codes('retried')).not.toContain('provider_fault_swallowed')
  for (const id of BROKEN) expect(codes(id), id).toContain('provider_fault_swallowed')
  expect(run.cell('swallowed', 'broken')).toMatchObject({ status: 'scored', integrity: { ok: true } })
  expect(run.cell('swallowed', 'page')).toMatchObject({ status: 'capture_error' })
  expect(codes('page')).toContain('answer_unreadable')
  expect(codes('page')).not.toContain('exchange_incomplete')
  expect(first.output).toMatch(/answer_unreadable: .*no provider gives.*status 200, text\/html/)
  expect(first.output).toContain('campaign swallowed: 4 of 6 cells went live and were not recorded')
  const before = await recordings(root)
  expect(Object.keys(before)).toEqual(['fine', 'retried'].map(file))
  const retried = decodeRecording(before[file('retried')] ?? '', 'retried').value.exchanges
  expect(retried.map(({ outcome }) => (outcome.kind === 'response' ? outcome.status : null))).toEqual([200])

  down = false
  await runVitest(root, record, env)
  const clean = await recordings(root)
  expect(Object.keys(clean)).toEqual([...BROKEN, 'fine', 'retried'].map(file).toSorted())

  down = true
  await runVitest(root, [...record, '-u'], env)
  expect(await recordings(root), 'a clean recording outlives the fault').toEqual(clean)
})

test('the report shows the warning of a whole run', async () => {
  const provider = await startProvider(broken)
  const root = await project('modes')
  const { output } = await runVitest(root, ['--project', 'evals'], { ...provider.env, FILES })
  expect(output).toMatch(/warn provider_fault_swallowed x 3: run swallowed 1 provider fault/)
})

test('what a subject still calls when it has failed is refused, and is no failure of its own', async () => {
  const provider = await startProvider()
  const root = await project('modes')
  const { output } = await runVitest(root, ['--project', 'evals'], { ...provider.env, FILES })
  const run = await inspectRun(root)
  expect(run.cell('goes on', 'rejects')).toMatchObject({ status: 'task_fail', failure: { mode: 'error' } })
  expect(run.cell('goes on', 'deadline')).toMatchObject({ status: 'task_fail', failure: { class: 'timeout' } })
  expect(run.cell('goes on', 'sibling')).toMatchObject({ status: 'task_fail', failure: { message: 'a bug' } })
  expect(output).toContain('nobody waits for this')
  expect(output).not.toContain('late_call')
  expect(output).not.toContain('after its cell')
  expect(run.derived.campaigns.get('goes on')?.problems).toEqual([])
})

const broken: Answer = ({ body }, response) => {
  if (!body.includes('"broken"')) return false
  response.writeHead(500, json).end('{"error":{"message":"we are on fire","type":"server_error"}}')
  return true
}
