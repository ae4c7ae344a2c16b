import { describe, expect, it } from 'vitest'
import type { Exchange, ExchangeResponse } from '../../../../src/core/traffic/exchange.ts'
import { isProviderHost } from '../../../../src/core/traffic/wire/hosts.ts'
import { readExchange, readRequest } from '../../../../src/core/traffic/wire/read.ts'

const CHAT = 'https://api.openai.com/v1/chat/completions'
const RESPONSES = 'https://api.openai.com/v1/responses'
const MESSAGES = 'https://api.anthropic.com/v1/messages'
const GEMINI = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:'

const request = (url: string, body: unknown, method = 'POST'): Exchange['request'] => ({
  method,
  url,
  headers: [],
  body: body === null ? null : { text: typeof body === 'string' ? body : JSON.stringify(body) },
})

const response = (text: string, extra: Partial<ExchangeResponse> = {}): ExchangeResponse => ({
  kind: 'response',
  status: 200,
  statusText: 'OK',
  headers: [['content-type', /^(?:data|event|:)/.test(text) ? 'text/event-stream' : 'application/json']],
  body: { text },
  cuts: [],
  end: { kind: 'complete' },
  ...extra,
})

function read(url: string, body: unknown, answer: unknown, extra: Partial<ExchangeResponse> = {}) {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const reading = readExchange({ request: request(url, body), outcome: response(text, extra) })
  if (reading === null) throw new Error(`not recognised: ${url}`)
  return reading
}

const sse = (...events: unknown[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
const named = (...events: { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const chatBody = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hi' }] }
const messageBody = { model: 'claude-sonnet-4-5', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }

describe('Chat Completions', () => {
  it('reads models, tokens with their parts, and the finish reason', () => {
    const reading = read(CHAT, chatBody, {
      id: 'c1',
      model: 'gpt-5-mini-2025-08-07',
      choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 30,
        total_tokens: 130,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    })
    expect(reading).toMatchObject({
      api: 'openai-chat',
      provider: 'openai',
      requestedModel: 'gpt-5-mini',
      servedModel: 'gpt-5-mini-2025-08-07',
      lane: 'openai/gpt-5-mini',
      streamed: false,
      usage: { input: 100, output: 30, reasoning: 20, cacheRead: 64, cacheWrite: null },
      usageMissing: null,
      finishReason: 'stop',
      truncatedByLength: false,
      complete: true,
      error: null,
      observedMicroUsd: null,
      prompt: { messages: chatBody.messages },
    })
  })

  const chunk = (delta: unknown, finish: string | null = null) => ({
    id: 'c1',
    model: 'gpt-5-mini-x',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }

  it('reads a stream whose usage comes in a last chunk without choices', () => {
    const text = sse(chunk({ content: 'a' }), chunk({}, 'length'), { choices: [], usage }, '[DONE]')
    expect(read(CHAT, { ...chatBody, stream: true }, text)).toMatchObject({
      streamed: true,
      servedModel: 'gpt-5-mini-x',
      usage: { input: 7, output: 2, reasoning: null, cacheRead: null, cacheWrite: null },
      finishReason: 'length',
      truncatedByLength: true,
      complete: true,
    })
  })

  it('takes a stream without usage for what it is', () => {
    const text = sse(chunk({ content: 'a' }), chunk({}, 'stop'), '[DONE]')
    expect(read(CHAT, chatBody, text)).toMatchObject({ usage: null, usageMissing: 'not-reported', complete: true })
  })

  it('sees that a stream broke off, even where the connection ended politely', () => {
    const whole = sse(chunk({ content: 'a' }), chunk({ content: 'b' }))
    for (const text of [whole, `${whole}data: {"choices":[{"index":0,"del`]) {
      expect(read(CHAT, chatBody, text)).toMatchObject({ complete: false, usage: null, usageMissing: 'incomplete' })
    }
  })

  it('is whole when the client hung up after the terminal event', () => {
    const text = sse(chunk({ content: 'a' }), chunk({}, 'stop'), { choices: [], usage }, '[DONE]')
    const reading = read(CHAT, chatBody, text, { end: { kind: 'client-abort' } })
    expect(reading).toMatchObject({ complete: true, usage: { input: 7 } })
  })

  it('waits for every choice of n', () => {
    const first = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    const second = { choices: [{ index: 1, delta: { content: 'x' }, finish_reason: null }] }
    expect(read(CHAT, chatBody, sse(second, first)).complete).toBe(false)
  })

  it('reads comments, CRLF lines and data over several lines', () => {
    const text = `: PROCESSING\r\n\r\n: PROCESSING\r\n\r\ndata: {"choices":[{"index":0,\r\ndata: "finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n`
    expect(read(CHAT, chatBody, text)).toMatchObject({ complete: true, finishReason: 'stop' })
  })

  it('adds reasoning where the total proves that completion tokens leave it out', () => {
    const choices = [{ finish_reason: 'stop' }]
    const xai = {
      prompt_tokens: 10,
      completion_tokens: 9,
      total_tokens: 319,
      completion_tokens_details: { reasoning_tokens: 300 },
    }
    expect(read('https://api.x.ai/v1/chat/completions', chatBody, { choices, usage: xai }).usage).toMatchObject({
      output: 309,
      reasoning: 300,
    })
  })

  it('never keeps a part larger than its whole', () => {
    const reading = read(CHAT, chatBody, {
      choices: [{ finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 11 } },
    })
    expect(reading.usage).toEqual({ input: null, output: 3, reasoning: null, cacheRead: null, cacheWrite: null })
    expect(reading.usageMissing).toBe('unreadable')
  })

  it.each([-1, 1.5, '12', null, Number.MAX_VALUE])('takes %s for no token count', (count) => {
    const usage = { prompt_tokens: count, completion_tokens: count }
    const reading = read(CHAT, chatBody, { choices: [{ finish_reason: 'stop' }], usage })
    expect(reading).toMatchObject({ usage: null, usageMissing: 'not-reported' })
  })

  it('takes the charge OpenRouter states, with the upstream bill where the key is the user’s', () => {
    const url = 'https://openrouter.ai/api/v1/chat/completions'
    const charge = (usage: object) =>
      read(url, chatBody, {
        choices: [{ finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, ...usage },
      }).observedMicroUsd
    expect(charge({ cost: 0.00019325, is_byok: false })).toBe(193)
    expect(charge({ cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } })).toBe(21_000)
    expect(charge({ cost: 0.001, is_byok: true })).toBeNull()
    expect(charge({})).toBeNull()
  })

  it('takes the model of an Azure deployment from the path', () => {
    const url = 'https://acme.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21'
    expect(readRequest(request(url, { messages: [] }))).toMatchObject({ provider: 'azure', requestedModel: 'my gpt' })
  })
})

describe('Responses', () => {
  const body = { model: 'gpt-5', instructions: 'be brief', input: 'hi', tools: [] }
  const usage = {
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 32 },
  }

  it('reads JSON', () => {
    const answer = { id: 'resp_1', model: 'gpt-5-2025-08-07', status: 'completed', error: null, output: [], usage }
    expect(read(RESPONSES, body, answer)).toMatchObject({
      api: 'openai-responses',
      servedModel: 'gpt-5-2025-08-07',
      usage: { input: 50, output: 40, reasoning: 32, cacheRead: 10, cacheWrite: null },
      finishReason: 'completed',
      complete: true,
      error: null,
      responseId: 'resp_1',
      prompt: { instructions: 'be brief', input: 'hi', tools: [] },
    })
  })

  it('is complete only with a terminal event', () => {
    const created = { type: 'response.created', response: { id: 'resp_1', model: 'gpt-5', status: 'in_progress' } }
    const final = (status: string, more = {}) => ({
      type: `response.${status}`,
      response: { id: 'resp_1', model: 'gpt-5', status, output: [], usage, ...more },
    })
    expect(read(RESPONSES, body, named(created, { type: 'response.output_text.delta' }))).toMatchObject({
      complete: false,
      usage: null,
      usageMissing: 'incomplete',
      servedModel: 'gpt-5',
    })
    expect(read(RESPONSES, body, named(created, final('completed')))).toMatchObject({
      complete: true,
      usage: { input: 50 },
    })
    const cut = final('incomplete', { incomplete_details: { reason: 'max_output_tokens' } })
    expect(read(RESPONSES, body, named(created, cut))).toMatchObject({
      complete: true,
      truncatedByLength: true,
      finishReason: 'max_output_tokens',
    })
    const failed = final('failed', { error: { code: 'rate_limit_exceeded', message: 'slow down' } })
    expect(read(RESPONSES, body, named(created, failed)).error).toEqual({ kind: 'rate_limit', message: 'slow down' })
  })

  it('reads a background answer fetched again', () => {
    const answer = { id: 'resp_1', model: 'gpt-5', status: 'queued', output: [], usage: null }
    const exchange = { request: request(`${RESPONSES}/resp_1`, null, 'GET'), outcome: response(JSON.stringify(answer)) }
    expect(readExchange(exchange)).toMatchObject({ usageMissing: 'not-reported', finishReason: 'queued', prompt: null })
  })
})

describe('Messages', () => {
  it('adds the cache to the input', () => {
    const reading = read(
      MESSAGES,
      { ...messageBody, system: 's' },
      {
        type: 'message',
        model: 'claude-sonnet-4-5-20250929',
        stop_reason: 'max_tokens',
        usage: {
          input_tokens: 3,
          cache_read_input_tokens: 1111,
          cache_creation_input_tokens: 418,
          cache_creation: { ephemeral_1h_input_tokens: 400 },
          output_tokens: 33,
        },
      },
    )
    expect(reading).toMatchObject({
      usage: { input: 1532, output: 33, reasoning: null, cacheRead: 1111, cacheWrite: 418 },
      truncatedByLength: true,
      finishReason: 'max_tokens',
      pricing: { provider: 'anthropic', parts: { cacheWrite1h: 400 } },
      prompt: { system: 's', messages: messageBody.messages },
    })
  })

  const start = {
    type: 'message_start',
    message: { id: 'm', type: 'message', model: 'claude-x', usage: { input_tokens: 10, output_tokens: 1 } },
  }
  const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 42 } }

  it('lets the last running totals of a stream stand', () => {
    expect(read(MESSAGES, messageBody, named(start, delta, { type: 'message_stop' }))).toMatchObject({
      usage: { input: 10, output: 42 },
      finishReason: 'end_turn',
      complete: true,
      streamed: true,
    })
  })

  it('does not take the counts of a beginning for the bill', () => {
    const reading = read(MESSAGES, messageBody, named(start), {
      end: { kind: 'broken', code: 'ECONNRESET', message: '' },
    })
    expect(reading).toMatchObject({ complete: false, usage: null, usageMissing: 'incomplete', servedModel: 'claude-x' })
  })

  it('reads an error inside a stream', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(read(MESSAGES, messageBody, named(start, error))).toMatchObject({
      complete: false,
      error: { kind: 'overloaded', message: 'Overloaded' },
    })
  })

  it('reads Claude on Vertex, with the model in the path', () => {
    const url =
      'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict'
    expect(readRequest(request(url, { messages: [], max_tokens: 1 }))).toMatchObject({
      api: 'anthropic-messages',
      provider: 'google-vertex',
      lane: 'google-vertex/claude-sonnet-4-5@20250929',
      streamed: true,
    })
  })
})

describe('Gemini', () => {
  const body = { contents: [{ parts: [{ text: 'hi' }] }], systemInstruction: { parts: [] } }
  const chunk = (text: string, finishReason?: string, usageMetadata?: object) => ({
    candidates: [{ content: { parts: [{ text }] }, ...(finishReason ? { finishReason } : {}) }],
    modelVersion: 'gemini-2.5-flash-001',
    ...(usageMetadata ? { usageMetadata } : {}),
  })
  const usage = { promptTokenCount: 10, toolUsePromptTokenCount: 5, thoughtsTokenCount: 7, candidatesTokenCount: 2 }

  it('adds tool prompts to the input and thoughts to the output', () => {
    expect(read(`${GEMINI}generateContent`, body, chunk('a', 'STOP', usage))).toMatchObject({
      api: 'gemini-generate-content',
      provider: 'google',
      requestedModel: 'gemini-2.5-flash',
      servedModel: 'gemini-2.5-flash-001',
      usage: { input: 15, output: 9, reasoning: 7, cacheRead: 0, cacheWrite: null },
      finishReason: 'STOP',
      complete: true,
      streamed: false,
    })
  })

  it('reads both forms of a stream, and sees one without its finish reason', () => {
    const chunks = [chunk('a', undefined, { promptTokenCount: 10 }), chunk('b', 'MAX_TOKENS', usage)]
    const url = `${GEMINI}streamGenerateContent`
    for (const text of [sse(...chunks), JSON.stringify(chunks)]) {
      expect(read(url, body, text)).toMatchObject({
        streamed: true,
        complete: true,
        truncatedByLength: true,
        usage: { input: 15 },
      })
    }
    expect(read(url, body, sse(chunks[0]))).toMatchObject({ complete: false, usage: null, usageMissing: 'incomplete' })
    expect(read(url, body, JSON.stringify(chunks).slice(0, -5), { end: { kind: 'client-abort' } })).toMatchObject({
      complete: false,
      usageMissing: 'incomplete',
    })
  })

  it('takes JSON without a finish reason for whole', () => {
    const answer = { candidates: [], usageMetadata: { promptTokenCount: 4 } }
    expect(read(`${GEMINI}generateContent`, body, answer)).toMatchObject({
      complete: true,
      usage: { input: 4, output: 0 },
    })
  })

  it('takes a blocked prompt for a whole answer', () => {
    const answer = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } }
    expect(read(`${GEMINI}generateContent`, body, answer)).toMatchObject({ complete: true, finishReason: 'SAFETY' })
  })
})

describe('Embeddings', () => {
  it('have input tokens only', () => {
    const answer = { model: 'text-embedding-3-small', data: [], usage: { prompt_tokens: 8, total_tokens: 8 } }
    const reading = read(
      'https://api.openai.com/v1/embeddings',
      { model: 'text-embedding-3-small', input: 'x' },
      answer,
    )
    expect(reading).toMatchObject({ api: 'openai-embeddings', usage: { input: 8, output: 0 }, complete: true })
  })
})

describe('error kinds', () => {
  const openai = (code: string | null, message = 'no', type = 'invalid_request_error') => ({
    error: { code, message, type },
  })
  const google = (code: number, status: string, message = 'no', details: unknown[] = []) => ({
    error: { code, status, message, details },
  })
  const perDay = [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }]
  const perMinute = [{ violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] }]
  it.each([
    ['rate_limit', 429, openai('rate_limit_exceeded', 'slow', 'requests')],
    ['quota', 429, openai('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota')],
    ['quota', 402, { error: { message: 'Insufficient credits', code: 402 } }],
    [
      'quota',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } },
    ],
    ['rate_limit', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', perMinute)],
    ['quota', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', perDay)],
    ['rate_limit', 429, 'Too many requests'],
    ['overloaded', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['overloaded', 503, google(503, 'UNAVAILABLE')],
    ['auth', 401, openai('invalid_api_key')],
    ['auth', 400, google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.')],
    ['permission', 403, google(403, 'PERMISSION_DENIED')],
    ['unknown_model', 404, openai('model_not_found')],
    ['unknown_model', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: claude-sonet' } }],
    ['unknown_model', 404, google(404, 'NOT_FOUND', 'models/nope is not found for API version v1beta')],
    ['unknown_model', 400, { error: { message: 'nope/nope is not a valid model ID', code: 400 } }],
    ['context_length', 400, openai('context_length_exceeded')],
    ['context_length', 400, { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' } }],
    ['content_filter', 400, openai('content_filter')],
    ['bad_request', 400, openai('unsupported_value')],
    ['bad_request', 422, { detail: 'wrong' }],
    ['server', 500, { error: { message: 'The server had an error', type: 'server_error' } }],
    ['server', 502, '<html>Bad gateway</html>'],
  ])('%s from status %i', (kind, status, body) => {
    const reading = read(CHAT, chatBody, body, { status })
    expect(reading.error?.kind).toBe(kind)
    expect(reading.error?.message).not.toBe('')
    expect(reading).toMatchObject({ usage: null, usageMissing: 'error-response', observedMicroUsd: null })
  })

  it('reads an error told with status 200', () => {
    const inStream = sse({ error: { code: 429, message: 'upstream is busy' } })
    expect(read(CHAT, chatBody, inStream)).toMatchObject({ error: { kind: 'rate_limit' }, complete: false })
  })

  it('tells a connection that never opened from one that broke', () => {
    const fault = (phase: 'connect' | 'headers') =>
      readExchange({
        request: request(CHAT, chatBody),
        outcome: { kind: 'fault', phase, code: 'ECONNRESET', message: 'x' },
      })
    expect(fault('connect')).toMatchObject({
      usageMissing: 'error-response',
      complete: false,
      error: { kind: 'other' },
    })
    expect(fault('headers')).toMatchObject({ usageMissing: 'incomplete', error: { message: 'ECONNRESET: x' } })
  })
})

describe('unreadable bodies', () => {
  it('say so and never throw', () => {
    expect(read(CHAT, chatBody, '{}')).toMatchObject({ complete: false, usageMissing: 'unreadable' })
    expect(read(CHAT, chatBody, 'not json')).toMatchObject({ complete: false, usageMissing: 'unreadable' })
    expect(read(CHAT, 'not json', '{}')).toMatchObject({ requestedModel: null, lane: 'openai/unknown', prompt: null })
    for (const odd of ['null', '[]', '3', '""', '{"choices":3,"usage":[]}', 'data: null\n\n']) {
      expect(read(CHAT, chatBody, odd).usage).toBeNull()
      expect(read(MESSAGES, messageBody, odd).usage).toBeNull()
      expect(read(RESPONSES, { model: 'x', input: 'y' }, odd).usage).toBeNull()
      expect(read(`${GEMINI}generateContent`, {}, odd).usage).toBeNull()
    }
  })
})

describe('recognising a provider', () => {
  it.each([
    ['https://api.groq.com/openai/v1/chat/completions', 'groq'],
    ['https://api.mistral.ai/v1/chat/completions', 'mistral'],
    ['https://router.huggingface.co/together/v1/chat/completions', 'huggingface'],
    ['http://localhost:4010/v1/chat/completions', 'openai'],
    ['http://127.0.0.1:11434/v1/chat/completions', 'openai'],
    ['http://[::1]:1/v1/chat/completions', 'openai'],
    ['https://llm.acme.example:8443/v1/chat/completions', 'llm.acme.example:8443'],
  ])('%s is %s', (url, provider) => {
    expect(readRequest(request(url, chatBody))).toMatchObject({ provider, lane: `${provider}/gpt-5-mini` })
  })

  it('gives loopback the vendor of the API it speaks', () => {
    expect(readRequest(request('http://localhost:1/v1/messages', messageBody))?.provider).toBe('anthropic')
    const contents = { contents: [] }
    expect(readRequest(request('http://localhost:1/v1beta/models/g:generateContent', contents))?.provider).toBe(
      'google',
    )
  })

  it.each([
    ['an application’s own messages', 'https://app.example/api/messages', { text: 'hi' }],
    ['an application’s own responses', 'http://localhost:3000/responses', { survey: 1 }],
    ['a list of models', 'https://api.openai.com/v1/models', null],
    ['token counting', 'https://api.anthropic.com/v1/messages/count_tokens', messageBody],
    ['no URL', 'not a url', chatBody],
  ])('takes %s for no model call', (_, url, body) => {
    expect(readRequest(request(url, body))).toBeNull()
  })

  it('knows provider hosts and is not fooled by look-alikes', () => {
    expect(isProviderHost('https://api.openai.com/v1/files')).toBe(true)
    expect(isProviderHost('https://europe-west4-aiplatform.googleapis.com/v1/x')).toBe(true)
    for (const url of [
      'https://api.openai.com.evil.example/',
      'https://xapi.anthropic.com/',
      'http://localhost/',
      'x',
    ]) {
      expect(isProviderHost(url)).toBe(false)
    }
  })
})
