import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { type CellEvidence, type CheckedCall, checkCell } from '../../../src/core/integrity/check.ts'
import { CELL_CHECKS, type CheckCode, type IntegrityOptions } from '../../../src/core/integrity/codes.ts'
import { type AgentProfileInput, agentProfileOf } from '../../../src/core/record/agent-profile.ts'
import type { ExchangeResponse, ProviderErrorKind, WireReading } from '../../../src/core/traffic/exchange.ts'

const reading: WireReading = {
  api: 'openai-chat',
  provider: 'openai',
  requestedModel: 'gpt-5-mini',
  servedModel: 'gpt-5-mini-2025-08-07',
  lane: 'openai/gpt-5-mini',
  streamed: false,
  usage: { input: 10, output: 5, reasoning: null, cacheRead: null, cacheWrite: null },
  usageMissing: null,
  finishReason: 'stop',
  truncatedByLength: false,
  complete: true,
  error: null,
  observedMicroUsd: null,
  prompt: null,
  responseId: null,
  pricing: { provider: 'openai', parts: {} },
}
const answer: ExchangeResponse = {
  kind: 'response',
  status: 200,
  statusText: 'OK',
  headers: [],
  body: null,
  cuts: [],
  end: { kind: 'complete' },
}
const CHAT = 'https://api.openai.com/v1/chat/completions'

function call(changes: Partial<CheckedCall> = {}, read: Partial<WireReading> = {}): CheckedCall {
  return {
    role: 'subject',
    key: 'k',
    ordinal: 0,
    request: { method: 'POST', url: CHAT, headers: [], body: { text: '{"q":"hello"}' } },
    outcome: answer,
    source: 'live',
    startedAt: '2026-01-02T03:04:05.000Z',
    ttfbMs: 1,
    totalMs: 2,
    redactions: [],
    retried: 0,
    reading: { ...reading, ...read },
    cost: { microUsd: 3, provenance: 'estimated' },
    ...changes,
  }
}
const tool = (url = 'http://tools.local/search') =>
  call({ reading: null, cost: null, request: { method: 'GET', url, headers: [], body: null } })
const incomplete = { complete: false, usage: null, usageMissing: 'incomplete' } as const
const unread = { cost: { microUsd: null, provenance: 'uncaptured' } } as const
const ended = (kind: 'complete' | 'client-abort'): ExchangeResponse => ({ ...answer, end: { kind } })
const brokenEnd: ExchangeResponse = { ...answer, end: { kind: 'broken', code: 'ECONNRESET', message: 'x' } }
const page: ExchangeResponse = {
  ...answer,
  headers: [['content-type', 'text/html; charset=utf-8']],
  body: { text: '<html>' },
}
const unreadable = { complete: false, usage: null, usageMissing: 'unreadable' } as const
const fault = (kind: ProviderErrorKind) =>
  [
    { cost: null, outcome: { ...answer, status: 503 } },
    { usage: null, usageMissing: 'error-response', error: { kind, message: 'down' } },
  ] as const
const lost = [
  { ...unread, outcome: { kind: 'fault', phase: 'headers', code: 'ECONNRESET', message: 'x' } },
  { ...incomplete, error: { kind: 'other', message: 'ECONNRESET' } },
] as const
const gaveUp = {
  ...unread,
  outcome: { kind: 'fault', phase: 'aborted', code: 'ABORT_ERR', message: 'x' },
  reading: { ...reading, ...incomplete },
} as const
const request = { role: 'subject', method: 'POST', url: `${CHAT}?key=secret` } as const

const agent = (parts: Partial<AgentProfileInput>) =>
  agentProfileOf({ id: 'agent@1', source: { kind: 'file', profile: {} }, ...parts })

function evidence(changes: Partial<CellEvidence> = {}): CellEvidence {
  return {
    capture: 'on',
    subject: 'output',
    failing: [],
    calls: [call()],
    open: [],
    late: [],
    misses: [],
    unused: [],
    secrets: [],
    routes: null,
    canary: null,
    profile: null,
    output: '"billing"',
    ...changes,
  }
}
const codes = (changes: Partial<CellEvidence>, overrides?: IntegrityOptions) =>
  checkCell(evidence(changes), overrides).map(({ code }) => code)

test('an ordinary cell has no issue', () => {
  expect(checkCell(evidence())).toEqual([])
})

const zero = { input: 0, output: 0, reasoning: null, cacheRead: null, cacheWrite: null }
const cases: [string, Partial<CellEvidence>, CheckCode[]][] = [
  ['no request at all', { calls: [] }, ['no_provider_calls']],
  ['only a tool', { calls: [tool()] }, ['no_provider_calls']],
  ['only a mocked provider', { calls: [call({ source: 'mocked' })] }, ['no_provider_calls']],
  ['only a judge call', { calls: [call({ role: 'judge' })] }, ['no_provider_calls']],
  ['no request with capture off', { calls: [], capture: 'off' }, []],
  ['no request of a subject that failed', { calls: [], subject: 'failed' }, []],
  ['a replayed call', { calls: [call({ source: 'replayed' })] }, []],

  ['an open request', { open: [request] }, ['exchange_incomplete']],
  ['an open request of a subject that failed', { open: [request], subject: 'failed' }, ['accounting_incomplete']],
  [
    'JSON that broke off',
    { calls: [call({ ...unread, outcome: brokenEnd }, incomplete)] },
    ['exchange_incomplete', 'accounting_incomplete'],
  ],
  ['a broken answer of a tool', { calls: [call(), { ...tool(), outcome: brokenEnd }] }, ['exchange_incomplete']],
  [
    'a broken answer that was asked for again',
    { calls: [call({ ...unread, outcome: brokenEnd }, incomplete), call({ ordinal: 1 })] },
    ['accounting_incomplete'],
  ],
  [
    'a broken answer of a subject that failed',
    { subject: 'failed', calls: [call({ ...unread, outcome: brokenEnd }, incomplete)] },
    ['accounting_incomplete'],
  ],

  [
    'a stream without its last event',
    { calls: [call(unread, { ...incomplete, streamed: true })] },
    ['stream_truncated', 'accounting_incomplete'],
  ],
  [
    'a stream that the subject left on purpose',
    { calls: [call({ ...unread, outcome: ended('client-abort') }, { ...incomplete, streamed: true })] },
    ['accounting_incomplete'],
  ],
  [
    'a truncated stream of a subject that failed',
    { subject: 'failed', calls: [call(unread, { ...incomplete, streamed: true })] },
    ['accounting_incomplete'],
  ],

  [
    'the page of a proxy taken for an answer',
    { calls: [call({ ...unread, outcome: page }, unreadable)] },
    ['answer_unreadable', 'usage_missing'],
  ],
  [
    'the page of a proxy taken for a stream',
    { calls: [call({ ...unread, outcome: page }, { ...unreadable, streamed: true })] },
    ['answer_unreadable', 'usage_missing'],
  ],
  [
    'the page of a proxy, asked again',
    { calls: [call({ ...unread, outcome: page }, unreadable), call({ ordinal: 1 })] },
    ['usage_missing'],
  ],

  ['a fault that run went on without', { calls: [call(...fault('server'))] }, ['provider_fault_swallowed']],
  [
    'another model instead of the throttled one',
    { calls: [call(...fault('rate_limit')), call({ key: 'other' })] },
    ['provider_fault_swallowed'],
  ],
  ['a lost connection', { calls: [call(...lost)] }, ['provider_fault_swallowed', 'accounting_incomplete']],
  ['a fault survived by a retry', { calls: [call(...fault('rate_limit')), call({ ordinal: 1 })] }, []],
  [
    'a retry that failed as well',
    { calls: [call(...fault('server')), call({ ...fault('server')[0], ordinal: 1 }, fault('server')[1])] },
    ['provider_fault_swallowed'],
  ],
  [
    "a judge's fault that a scorer scored",
    { calls: [call(), call({ ...fault('overloaded')[0], role: 'judge', key: 'j' }, fault('overloaded')[1])] },
    ['provider_fault_swallowed', 'judge_same_model'],
  ],
  ['a fault that the record tells', { failing: ['subject'], subject: 'failed', calls: [call(...fault('server'))] }, []],
  ['ctx.fail after a fault', { subject: 'failed', calls: [call(...fault('server'))] }, ['provider_fault_swallowed']],
  ['a prompt that was refused', { calls: [call(...fault('content_filter'))] }, []],
  ['a request that was wrong', { calls: [call(...fault('bad_request'))] }, []],
  ['a call that its caller gave up', { calls: [call(), call({ ...gaveUp, key: 'hedge' })] }, ['accounting_incomplete']],

  ['a late call of a subject that was cut off', { late: [request], subject: 'failed' }, []],
  ['a replay miss', { misses: ['no recording matches POST …'] }, ['replay_miss']],
  ['a replay miss that made the subject fail', { subject: 'failed', misses: ['no recording …'] }, ['replay_miss']],
  ['a secret', { secrets: ['openai-key'] }, ['secret_in_capture']],
  ['a late call', { late: [request] }, ['late_call']],
  ['an unused recording beside a miss, which explains it', { unused: [request], misses: ['m'] }, ['replay_miss']],
  ['an unused recording', { unused: [request] }, ['replay_unused']],

  [
    'another origin',
    { calls: [call(), tool('http://evil.example/x')], routes: ['https://api.openai.com'] },
    ['route_not_allowed'],
  ],
  [
    'a look-alike host',
    { calls: [call(), tool('https://api.openai.com.evil.example/x')], routes: ['https://api.openai.com'] },
    ['route_not_allowed'],
  ],
  [
    'another port',
    { calls: [call(), tool('https://api.openai.com:444/x')], routes: ['https://api.openai.com'] },
    ['route_not_allowed'],
  ],
  ['a listed origin', { routes: ['https://api.openai.com'] }, []],
  [
    'a mocked tool beside the routes',
    { calls: [call(), { ...tool(), source: 'mocked' }], routes: ['https://api.openai.com'] },
    [],
  ],
  [
    'a judge beside the routes',
    { calls: [call(), call({ role: 'judge' }, { requestedModel: 'claude-x', servedModel: 'claude-x' })], routes: [] },
    ['route_not_allowed'],
  ],

  ['the canary in a request', { canary: 'hello' }, ['canary_leak']],
  ['the canary in the output', { canary: 'billing' }, ['canary_leak']],
  ['the canary in both', { canary: 'l' }, ['canary_leak', 'canary_leak']],
  ['the canary nowhere', { canary: 'zebra' }, []],
  [
    'the canary in a call to a tool',
    { canary: 'zebra', calls: [call(), { ...tool(), request: { ...tool().request, body: { text: 'zebra' } } }] },
    [],
  ],

  ['zero tokens everywhere', { calls: [call({}, { usage: zero })] }, ['stub_backend']],
  ['zero tokens once', { calls: [call({}, { usage: zero }), call()] }, []],
  [
    'zero tokens and an unreported count',
    { calls: [call({}, { usage: { ...zero, output: null } })] },
    ['stub_backend'],
  ],
  ['no counts at all', { calls: [call({}, { usage: { ...zero, input: null, output: null } })] }, []],
  [
    'only refused requests',
    { calls: [call({}, { usage: null, usageMissing: 'error-response', error: { kind: 'server', message: '' } })] },
    ['provider_fault_swallowed'],
  ],

  ['no usage', { calls: [call(unread, { usage: null, usageMissing: 'not-reported' })] }, ['usage_missing']],
  ['unreadable usage', { calls: [call(unread, { usage: null, usageMissing: 'unreadable' })] }, ['usage_missing']],
  ['no price', { calls: [call(unread)] }, ['accounting_incomplete']],

  ['another model', { calls: [call({}, { servedModel: 'gpt-5-nano' })] }, ['model_mismatch']],
  ['a profile without a model', { profile: agent({}) }, []],
  ['a profile of the model that was called', { profile: agent({ model: 'gpt-5-mini' }) }, []],
  ['a profile of a dated name of it', { profile: agent({ model: 'openai/gpt-5-mini-2026-01-01' }) }, []],
  ['a profile of another model', { profile: agent({ model: 'gpt-5' }) }, ['profile_mismatch']],
  ['a profile of another model, and no call', { capture: 'off', calls: [], profile: agent({ model: 'gpt-5' }) }, []],
  [
    'a profile of the judge’s model',
    {
      calls: [call(), call({ role: 'judge' }, { requestedModel: 'claude-x', servedModel: 'claude-x' })],
      profile: agent({ model: 'claude-x' }),
    },
    ['profile_mismatch'],
  ],
  ['a profile of a prompt nobody saw', { profile: agent({ promptHash: digestOf('one') }) }, []],
  [
    'a profile of the prompt that was sent',
    { calls: [call({}, { prompt: 'one' })], profile: agent({ promptHash: digestOf('one') }) },
    [],
  ],
  [
    'a profile of another prompt',
    { calls: [call({}, { prompt: 'two' })], profile: agent({ promptHash: digestOf('one') }) },
    ['profile_mismatch'],
  ],
  [
    'another model twice',
    { calls: [call({}, { servedModel: 'gpt-5-nano' }), call({}, { servedModel: 'gpt-5-nano' })] },
    ['model_mismatch'],
  ],
  ['no served model', { calls: [call({}, { servedModel: null })] }, []],
  ['a deployment on Azure', { calls: [call({}, { provider: 'azure', requestedModel: 'my-deployment' })] }, []],
  ['a floating name', { calls: [call({}, { requestedModel: 'gpt-5-mini-latest' })] }, ['model_alias']],
  [
    'a judge of the same family',
    { calls: [call(), call({ role: 'judge' }, { requestedModel: 'gpt-4.1', servedModel: 'gpt-4.1-2025-04-14' })] },
    ['judge_same_model'],
  ],
  [
    'a judge of another family',
    {
      calls: [
        call(),
        call({ role: 'judge' }, { requestedModel: 'claude-opus-4-1', servedModel: 'claude-opus-4-1-20250805' }),
      ],
    },
    [],
  ],
]

describe('checks', () => {
  test.each(cases)('%s', (_, changes, expected) => {
    expect(codes(changes)).toEqual(expected)
  })

  test('every check of a cell has a case that finds it', () => {
    const found = new Set(cases.flatMap(([, , expected]) => expected))
    const perCampaign: CheckCode[] = ['seeds_identical']
    expect([...found, ...perCampaign].sort()).toEqual(Object.keys(CELL_CHECKS).sort())
  })

  test.each(cases.filter(([, , expected]) => expected.length > 0))('%s: the message says what to do', (_, changes) => {
    for (const { message, severity, code } of checkCell(evidence(changes))) {
      expect(severity).toBe(CELL_CHECKS[code])
      if (code !== 'replay_miss') expect(message).toMatch(/: \S/)
      expect(message).not.toMatch(/undefined|null|NaN|key=secret/)
    }
  })
})

describe('the canary is found', () => {
  const body = (text: string, canary: string) =>
    codes({ canary, calls: [call({ request: { ...call().request, body: { text } } })] })
  test.each([
    ['as it is', 'x zebra y', 'zebra'],
    ['with escaped quotes and line breaks', JSON.stringify({ q: 'say "zebra"\nnow' }), 'say "zebra"\nnow'],
    ['with escaped letters', '{"q":"z\\u0065br\\u00e4"}', 'zebrä'],
  ])('%s', (_, text, canary) => {
    expect(body(text, canary)).toEqual(['canary_leak'])
  })
  test('in a body of bytes', () => {
    const base64 = Buffer.from('a zebra').toString('base64')
    const calls = [call({ request: { ...call().request, body: { base64 } } })]
    expect(codes({ canary: 'zebra', calls })).toEqual(['canary_leak'])
  })
})

describe('severities', () => {
  test('off drops a check, error and warn set it', () => {
    expect(codes({ calls: [] }, { no_provider_calls: 'off' })).toEqual([])
    expect(checkCell(evidence({ calls: [] }), { no_provider_calls: 'warn' })).toMatchObject([{ severity: 'warn' }])
    const silent = { calls: [call(unread, { usage: null, usageMissing: 'not-reported' as const })] }
    expect(checkCell(evidence(silent), { usage_missing: 'error' })).toMatchObject([{ severity: 'error' }])
  })

  test('issues come in the order of the list of checks', () => {
    const found = codes({
      calls: [call(unread, { servedModel: 'x' })],
      secrets: ['a'],
      late: [request],
      unused: [request],
      misses: ['m'],
    })
    expect(found).not.toContain('replay_unused')
    const order = Object.keys(CELL_CHECKS)
    expect(found).toEqual(found.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)))
    expect(found).toHaveLength(5)
  })
})

test('a streamed chat answer without usage is told how to ask for it', () => {
  const calls = [call(unread, { usage: null, usageMissing: 'not-reported', streamed: true })]
  expect(checkCell(evidence({ calls }))[0]?.message).toContain('include_usage')
})
