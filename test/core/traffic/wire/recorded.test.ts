import { describe, expect, it } from 'vitest'
import { readExchange } from '../../../../src/core/traffic/wire/read.ts'
import { type ExpectedUsage, hasRecordedTraffic, recordedFolder, recordedTraffic } from '../recorded.ts'

const READ = new Set([
  'openai-chat',
  'openai-responses',
  'openai-embeddings',
  'anthropic-messages',
  'gemini-generate-content',
  'bedrock-converse',
  'cohere-chat',
])

if (!hasRecordedTraffic) console.warn(`skipped: no recorded traffic at ${recordedFolder}`)

describe.skipIf(!hasRecordedTraffic)('recorded traffic', () => {
  it('is read as it was counted independently of us', () => {
    const wrong: string[] = []
    let n = 0
    let m = 0
    for (const { where, exchange, expected } of recordedTraffic()) {
      if (expected === null || !READ.has(expected.api)) continue
      m++
      const reading = readExchange(exchange)
      const got = reading && {
        api: reading.api,
        model: reading.servedModel,
        ...reading.usage,
        complete: reading.complete,
        error: reading.error,
        missing: reading.usageMissing,
      }
      const want = { ...wanted(expected, reading?.usage), complete: true, error: null, missing: null }
      if (JSON.stringify(got) === JSON.stringify(want)) n++
      else wrong.push(`${where}\n  got  ${JSON.stringify(got)}\n  want ${JSON.stringify(want)}`)
    }
    console.log(`traffic ${n} of ${m}`)
    expect(wrong.join('\n')).toBe('')
    expect(n).toBeGreaterThan(0)
  })

  it('has no call of a read API that goes unrecognised', () => {
    const known =
      /\/(?:chat\/completions|responses|embeddings|messages|v2\/chat|converse|converse-stream)$|:(?:stream)?[gG]enerateContent$/
    const missed = [...recordedTraffic()]
      .filter(
        ({ exchange }) => known.test(new URL(exchange.request.url).pathname) && exchange.request.method === 'POST',
      )
      .filter(({ exchange }) => readExchange(exchange) === null)
    expect(missed.map(({ where }) => where)).toEqual([])
  })

  it('has errors that all get a kind', () => {
    const kinds = [...recordedTraffic()]
      .map(({ exchange }) => exchange)
      .filter(({ outcome }) => outcome.kind === 'response' && outcome.status >= 400)
      .map((exchange) => readExchange(exchange)?.error?.kind)
      .filter((kind) => kind !== undefined)
    expect(kinds.length).toBeGreaterThan(0)
    expect(new Set(kinds)).toEqual(new Set(['rate_limit', 'unknown_model', 'bad_request']))
  })
})

/** A part that the expectation gives as 0 and the wire does not report is null with us: unknown is never 0. */
function wanted(expected: ExpectedUsage, usage: object | null | undefined) {
  const part = (count: number | undefined, name: string) => {
    const ours: unknown = usage ? Reflect.get(usage, name) : undefined
    return count === undefined ? ours : count === 0 && ours === null ? null : count
  }
  return {
    api: expected.api,
    model: expected.model,
    input: expected.inputTokens,
    output: expected.outputTokens,
    reasoning: part(expected.reasoningTokens, 'reasoning'),
    cacheRead: part(expected.cacheReadTokens, 'cacheRead'),
    cacheWrite: part(expected.cacheWriteTokens, 'cacheWrite'),
  }
}
