import { expect, test } from 'vitest'
import { modelAddress } from '../../../src/plugin/pool/model-address.ts'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }

test('preflight lists dead models before anything runs, and buys nothing of them', async () => {
  const provider = await startProvider(({ path }, response) => {
    if (path !== '/v1/models/gpt-5-gone') return false
    const message = 'The model `gpt-5-gone` does not exist or you do not have access to it.'
    response.writeHead(404, json).end(JSON.stringify({ error: { message, code: 'model_not_found', param: null } }))
    return true
  })
  const root = await project('capacity')
  const options = { preflight: true, capacity: { lanes: [{ match: '*', concurrency: 1 }] } }
  const models = 'gpt-5-mini,gpt-5-gone,somewhere/else'
  const env = { FILES: 'asks.eval.ts', CELLS: '2', MODELS: models, OPTIONS: JSON.stringify(options) }
  const { output } = await runVitest(root, ['--project', 'evals'], { ...provider.env, ...env })
  expectCleanOutput(output)
  expect(output).toContain(
    'preflight: openai/gpt-5-gone is dead: unknown_model (HTTP 404): The model `gpt-5-gone` does not exist or you do not have access to it.; somewhere/else was not checked: no model of openai, anthropic, ',
  )
  const asked = provider.calls.filter(({ path }) => path.startsWith('/v1/models/'))
  expect(asked.map(({ path }) => path).toSorted()).toEqual(['/v1/models/gpt-5-gone', '/v1/models/gpt-5-mini'])
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer key-of-the-test'))
  expect(provider.calls.slice(0, 2).map(({ path }) => path)).toEqual(asked.map(({ path }) => path))
  expect(provider.calls.filter(({ body }) => body.includes('gpt-5-gone'))).toEqual([])
  const { records } = await inspectRun(root)
  expect(records.map(({ variantId, status, reason }) => `${variantId} ${status} ${reason ?? ''}`).toSorted()).toEqual([
    'gpt-5-gone not_run lane-failed',
    'gpt-5-gone not_run lane-failed',
    'gpt-5-mini scored ',
    'gpt-5-mini scored ',
    'somewhere/else scored ',
    'somewhere/else scored ',
  ])
}, 60_000)

test.each([
  ['anthropic/claude-x', { ANTHROPIC_API_KEY: 'k' }, 'https://api.anthropic.com/v1/models/claude-x'],
  ['openai/gpt-5', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://gate/v1/' }, 'http://gate/v1/models/gpt-5'],
  ['google/gemini-3', { GOOGLE_API_KEY: 'k' }, 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3'],
  ['cohere/a/b', { CO_API_KEY: 'k' }, 'https://api.cohere.com/v1/models/a%2Fb'],
])('%s is asked for where its SDK would go', (lane, env, url) => {
  expect(modelAddress(lane, env)).toMatchObject({ url })
})

test.each([
  ['fast', {}, /^no model of openai/],
  ['bedrock/claude', {}, /^no model of openai/],
  ['openai/gpt-5', { OPENAI_API_KEY: '' }, /^OPENAI_API_KEY is not set$/],
  ['openai/gpt-5', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'nowhere' }, /is no address$/],
])('%s cannot be asked for, and says why', (lane, env, why) => {
  expect(modelAddress(lane, env)).toEqual({ unasked: expect.stringMatching(why) })
})
