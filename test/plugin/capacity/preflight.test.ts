import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelAddress } from '../../../src/plugin/pool/model-address.ts'
import { deadLanes, soughtIn } from '../../../src/plugin/pool/preflight.ts'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }

test('preflight lists dead models before anything runs, and buys nothing of them', async () => {
  const provider = await startProvider(({ path }, response) => {
    if (path === '/v1/models/gpt-5-echo') {
      const message = 'Incorrect API key provided: key-of-the-test. You can find your key on our page.'
      response.writeHead(401, json).end(JSON.stringify({ error: { message, code: 'invalid_api_key', param: null } }))
      return true
    }
    if (path !== '/v1/models/gpt-5-gone') return false
    const message = 'The model `gpt-5-gone` does not exist or you do not have access to it.'
    response.writeHead(404, json).end(JSON.stringify({ error: { message, code: 'model_not_found', param: null } }))
    return true
  })
  const root = await project('capacity')
  const options = { preflight: true, capacity: { lanes: [{ match: '*', concurrency: 1 }] } }
  const models = 'gpt-5-mini,gpt-5-gone,somewhere/else,gpt-5-echo'
  // A lane may have any name: it is not asked for where the variant says its model.
  const LANES = JSON.stringify({ 'gpt-5-mini': 'openai/batch' })
  const env = { FILES: 'asks.eval.ts', CELLS: '2', MODELS: models, LANES, OPTIONS: JSON.stringify(options) }
  const { output } = await runVitest(root, ['--project', 'evals'], { ...provider.env, ...env })
  expectCleanOutput(output)
  expect(output).toContain(
    'preflight: openai/gpt-5-gone is dead: unknown_model (HTTP 404): The model `gpt-5-gone` does not exist or you do not have access to it.; somewhere/else was not checked: no model of openai, anthropic, ',
  )
  const asked = provider.calls.filter(({ path }) => path.startsWith('/v1/models/'))
  expect(asked.map(({ path }) => path).toSorted()).toEqual(
    ['gpt-5-echo', 'gpt-5-gone', 'gpt-5-mini'].map((model) => `/v1/models/${model}`),
  )
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer key-of-the-test'))
  expect(provider.calls.slice(0, 3).map(({ path }) => path)).toEqual(asked.map(({ path }) => path))
  expect(provider.calls.filter(({ body }) => body.includes('gpt-5-gone'))).toEqual([])
  const { records, dir } = await inspectRun(root)
  // A provider that repeats the key it refuses puts it nowhere.
  expect(output).toMatch(/gpt-5-echo is dead: auth \(HTTP 401\): Incorrect API key provided: \[redacted/)
  for (const text of [output, await readFile(join(dir, 'journal.jsonl'), 'utf8')]) {
    expect(text).not.toContain('key-of-the-test')
  }
  expect(records.map(({ variantId, status, reason }) => `${variantId} ${status} ${reason ?? ''}`).toSorted()).toEqual([
    'gpt-5-echo not_run lane-failed',
    'gpt-5-echo not_run lane-failed',
    'gpt-5-gone not_run lane-failed',
    'gpt-5-gone not_run lane-failed',
    'gpt-5-mini scored ',
    'gpt-5-mini scored ',
    'somewhere/else scored ',
    'somewhere/else scored ',
  ])
})

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
  ['__proto__/claude', {}, /^no model of openai/],
  ['openai/gpt-5', { OPENAI_API_KEY: '' }, /^OPENAI_API_KEY is not set$/],
  ['openai/gpt-5', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'nowhere' }, /is no address$/],
])('%s cannot be asked for, and says why', (lane, env, why) => {
  expect(modelAddress(lane, env)).toEqual({ unasked: expect.stringMatching(why) })
})

test('the model that a variant names is asked for, and a name that somebody chose for a lane closes nothing', () => {
  const digest = `sha256-jcs:${'0'.repeat(64)}` as const
  const variants = [
    { id: 'shown', digest, lane: 'openai/gpt-5' },
    { id: 'named', digest, lane: 'fast', model: 'openai/gpt-5-gone' },
    { id: 'also named', digest, lane: 'both', model: 'openai/gpt-5-gone' },
    { id: 'beside it', digest, lane: 'both', model: 'openai/gpt-5' },
    { id: 'unknown', digest, lane: 'openai/batch', model: null },
    { id: 'of a model', digest, lane: 'anthropic/claude-x', model: null },
  ]
  expect(soughtIn(variants, ['openai/gpt-5', 'groq/judges', null])).toEqual([
    { model: 'openai/gpt-5', chosen: false },
    { model: 'openai/gpt-5-gone', chosen: false },
    { model: 'openai/batch', chosen: true },
    { model: 'anthropic/claude-x', chosen: false },
    { model: 'groq/judges', chosen: true },
  ])
  const dead = { kind: 'dead', of: 'unknown_model', detail: 'gone' } as const
  expect([...deadLanes(variants, [{ lane: 'openai/gpt-5-gone', checked: dead }]).keys()]).toEqual([
    'openai/gpt-5-gone',
    'fast',
  ])
})
