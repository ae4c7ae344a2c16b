import { expect, test } from 'vitest'
import { THROTTLED_ATTEMPTS } from '../../../src/core/capacity/retry.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { recordings } from './project.ts'
import { type Answer, startProvider } from './provider.ts'

const json = { 'content-type': 'application/json', 'retry-after-ms': '1' }

const faulty: Answer = ({ body }, response) => {
  if (body.includes('"throttled"')) {
    response.writeHead(429, json).end('{"error":{"message":"slow down please","type":"rate_limit_error"}}')
  } else if (body.includes('"broken"')) {
    response.writeHead(500, json).end('{"error":{"message":"we are on fire","type":"server_error"}}')
  } else if (body.includes('"torn')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      `data: ${JSON.stringify({ id: 'x', model: 'gpt-5-mini', choices: [{ index: 0, delta: { content: 'half' } }] })}\n\n`,
    )
    setTimeout(() => response.destroy(), 20)
  } else return false
  return true
}

test('what the provider breaks is no score: skipped with its reason, and never recorded', async () => {
  const provider = await startProvider(faulty)
  const root = await project('modes')
  const run = await runVitest(root, ['--project', 'evals', '--reporter=verbose'], {
    ...provider.env,
    FILES: 'faults.eval.ts',
  })
  const inspected = await inspectRun(root)
  const row = (id: string) => inspected.cell('faults', id)
  expect(row('fine')).toMatchObject({ status: 'scored', pass: true })
  for (const id of ['throttled', 'broken', 'torn']) {
    expect(row(id), id).toMatchObject({
      status: 'infra_error',
      reason: 'provider-fault',
      score: null,
      pass: null,
      failure: { class: 'integration_provider_failure' },
    })
  }
  // A stream without its last event that the subject takes for an answer measures the wire, not the subject.
  expect(row('torn-caught')).toMatchObject({ status: 'capture_error', score: null })
  expect(row('torn-caught').integrity.issues.map(({ code }) => code)).toContain('stream_truncated')
  expect(run.code, 'the capture error is red').toBe(1)
  expect(run.output).toMatch(/↓ .*throttled.*infra_error: 429/)
  expect(run.output).toMatch(/↓ .*broken.*infra_error: 500/)
  const sent = provider.fresh().filter(({ body }) => body.includes('"throttled"'))
  expect(sent.length, 'made again by us, and not by the SDK').toBe(THROTTLED_ATTEMPTS)
  expect(Object.keys(await recordings(root))).toEqual(['__recordings__/faults/plain/fine/0.jsonl'])
})
