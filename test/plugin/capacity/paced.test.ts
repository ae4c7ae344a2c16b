import { expect, test } from 'vitest'
import { FAULT_ATTEMPTS, THROTTLED_ATTEMPTS } from '../../../src/core/capacity/retry.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { recordings } from '../modes/project.ts'
import { type Answer, completion, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }
const CONCURRENCY = 2
const names = (count: number) => Array.from({ length: count }, (_, i) => `cell ${i}`)

async function run(answer: Answer, scenarios: readonly string[], capacity: object) {
  const provider = await startProvider(answer)
  const root = await project('modes')
  const env = { FILES: 'paced.eval.ts', SCENARIOS: JSON.stringify(scenarios), OPTIONS: JSON.stringify({ capacity }) }
  const result = await runVitest(root, ['--project', 'evals', '--reporter=verbose'], { ...provider.env, ...env })
  return { result, provider, inspected: await inspectRun(root) }
}

test('a provider that enforces its limits gets no request over them, throttling is waited out, and every cell is scored', async () => {
  let inFlight = 0
  let most = 0
  const seen = new Map<string, number>()
  const { result, inspected } = await run(
    ({ body }, response) => {
      const { content = '' } = JSON.parse(body).messages[0] as { content?: string }
      const attempt = (seen.get(content) ?? 0) + 1
      seen.set(content, attempt)
      most = Math.max(most, ++inFlight)
      response.once('close', () => inFlight--)
      if (content === 'reset' && attempt === 1) {
        response.socket?.resetAndDestroy()
      } else if (content === 'held' && attempt <= 2) {
        response.writeHead(429, { ...json, 'retry-after': '4' })
        response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
      } else {
        setTimeout(() => response.writeHead(200, json).end(completion('gpt-5-mini', content, 9)), 20)
      }
      return true
    },
    [...names(6), 'reset', 'held'],
    { lanes: [{ match: 'openai/*', concurrency: CONCURRENCY, requestsPerMinute: 500, tokensPerMinute: 1_000_000 }] },
  )
  const { records } = inspected
  expect(records.map(({ status }) => status)).toEqual(Array(8).fill('scored'))
  expect(most).toBeLessThanOrEqual(CONCURRENCY)
  expect(inspected.cell('paced', 'reset').calls).toMatchObject({ subject: 1, retried: 1 })
  const held = inspected.cell('paced', 'held')
  expect(held.calls).toMatchObject({ subject: 1, retried: 2 })
  expect(held.wallMs, 'two holds of 4 s in a deadline of 6 s').toBeGreaterThan(8_000)
  expect(result.code, result.output).toBe(0)
  const [lane, ...others] = inspected.reports.paced?.capacity?.lanes ?? []
  expect(others).toEqual([])
  // Eight cells, one attempt after a lost connection and two after 429s.
  expect(lane).toMatchObject({ lane: 'openai/gpt-5-mini', requests: 11, throttled: 2, concurrency: CONCURRENCY })
  expect(lane).toMatchObject({ faults: 1, peak: most, closed: null })
  expect(lane?.waitedMs.hold, 'the held cell itself waits for it').toBeGreaterThan(0)
  expect(result.output).toMatch(/^LANE {2}openai\/gpt-5-mini: 11 requests, up to 2 of 2 at once; waited /m)
  expect(result.output.replaceAll(/\n {2}/g, ' ')).toContain('2 throttled (429, 503, 529), 1 fault')
})

test('a refused key closes its lane: what has not started is not run, and says why', async () => {
  const { result, provider, inspected } = await run(
    (_, response) => {
      response.writeHead(401, json)
      response.end('{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}')
      return true
    },
    names(8),
    { cells: 1 },
  )
  expect(provider.calls).toHaveLength(1)
  expect(inspected.records.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual([
    'infra_error lane-failed',
    ...Array(7).fill('not_run lane-failed'),
  ])
  expect(inspected.records.find(({ status }) => status === 'not_run')?.failure?.message).toContain('Incorrect API key')
  expect(result.output).toMatch(/↓ .*not run: lane-failed: .*Incorrect API key/)
  expect(result.output).toContain('lane openai/gpt-5-mini is closed (lane-failed)')
  expect(inspected.reports.paced?.capacity?.lanes).toMatchObject([
    { requests: 1, closed: { reason: 'lane-failed', detail: expect.stringContaining('Incorrect API key') } },
  ])
  expect(result.code, 'nothing was measured').toBe(1)
})

test("the SDK's own retries do not multiply ours", async () => {
  const { provider, inspected } = await run(
    ({ body }, response) => {
      const status = body.includes('throttled') ? 429 : 500
      response.writeHead(status, { ...json, 'retry-after-ms': '1' }).end('{"error":{"message":"not now, please"}}')
      return true
    },
    ['throttled', 'broken'],
    {},
  )
  const sent = (id: string) => provider.calls.filter(({ body }) => body.includes(id)).length
  expect({ throttled: sent('throttled'), broken: sent('broken') }).toEqual({
    throttled: THROTTLED_ATTEMPTS,
    broken: FAULT_ATTEMPTS,
  })
  for (const record of inspected.records) {
    expect(record).toMatchObject({ status: 'infra_error', reason: 'provider-fault', calls: { subject: 1 } })
  }
  expect(inspected.cell('paced', 'throttled').calls.retried).toBe(THROTTLED_ATTEMPTS - 1)
})

test('a judge that swallows the refusal of its request gives no score, and nothing of the cell is recorded', async () => {
  const provider = await startProvider(({ body }, response) => {
    if (!body.includes('"gpt-5"')) return false
    response.writeHead(401, json).end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')
    return true
  })
  const root = await project('modes')
  const capacity = { cells: 1, lanes: [{ match: '*' }, { match: 'openai/*', concurrency: 1 }] }
  const env = { FILES: 'unjudged.eval.ts', OPTIONS: JSON.stringify({ capacity }) }
  const { output } = await runVitest(root, ['--project', 'evals'], { ...provider.env, ...env })
  expect(provider.calls.filter(({ body }) => body.includes('"gpt-5"'))).toHaveLength(1)
  const second = (await inspectRun(root)).cell('unjudged', 'second')
  expect(second).toMatchObject({ status: 'judge_error', score: null, scores: { length: { pass: true } } })
  expect(second.scores.judge).toMatchObject({
    value: null,
    error: expect.stringMatching(/^a request was not sent: .*Incorrect API key/),
  })
  expect(Object.keys(await recordings(root))).toEqual([])
  expect(output).toContain('capacity.lanes[1] ("openai/*") is never used: lanes[0] ("*") comes first')
})
