import type { PricedParts } from '../exchange.ts'
import type { Answer, Told, WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { peek, peekCount, peekList, peekText, pick } from './peek.ts'

const method = /\/([^/:]+):(generateContent|streamGenerateContent)$/

/** generateContent and streamGenerateContent, on the Gemini API and on Vertex. */
export const gemini: WireApi = {
  api: 'gemini-generate-content',
  vendor: 'google',
  matches: (verb, path) => verb === 'POST' && method.test(path),
  speaks: (body) => Array.isArray(peek(body, 'contents')),
  ask: (body, path) => {
    const found = method.exec(path)
    return {
      model: found?.[1] ?? null,
      streamed: found?.[2] === 'streamGenerateContent',
      prompt: pick(body, ['systemInstruction', 'system_instruction', 'contents', 'tools', 'cachedContent']),
    }
  },
  tell: (answer) => {
    const told = tellChunks(chunksOf(answer))
    return isWhole(answer) ? { ...told, complete: true } : told
  },
}

/** One JSON answer that parses is whole, with or without a finish reason; only a stream has an end to wait for. */
function isWhole(answer: Answer): boolean {
  if (answer.kind === 'events' || Array.isArray(answer.value)) return false
  return pick(answer.value, ['candidates', 'promptFeedback', 'usageMetadata']) !== null
}

/** A stream without `alt=sse` is one JSON array of the same chunks. */
function chunksOf(answer: Answer): readonly unknown[] {
  if (answer.kind === 'events') return answer.events.map((event) => event.json)
  return Array.isArray(answer.value) ? answer.value : [answer.value]
}

function tellChunks(chunks: readonly unknown[]): Told {
  let servedModel: string | null = null
  let responseId: string | null = null
  let usage: unknown
  let error: unknown
  let blocked: string | null = null
  const finish: string[] = []
  for (const chunk of chunks) {
    servedModel = peekText(chunk, 'modelVersion') ?? servedModel
    responseId = peekText(chunk, 'responseId') ?? responseId
    usage = peek(chunk, 'usageMetadata') ?? usage
    error = peek(chunk, 'error') ?? error
    blocked = peekText(chunk, 'promptFeedback', 'blockReason') ?? blocked
    for (const candidate of peekList(chunk, 'candidates')) {
      const reason = peekText(candidate, 'finishReason')
      if (reason !== null) finish.push(reason)
    }
  }
  return {
    servedModel,
    ...generateUsage(usage),
    finishReason: finish[0] ?? blocked,
    truncatedByLength: finish.includes('MAX_TOKENS'),
    complete: finish.length > 0 || blocked !== null,
    ...(error === undefined ? {} : { error }),
    responseId,
  }
}

/**
 * `promptTokenCount` includes cached content but not what a built-in tool added to the prompt; `candidatesTokenCount`
 * does not include thoughts. The wire is proto3 JSON, where a field with value 0 is left out: beside a prompt count an
 * absent part is 0, as reported.
 */
function generateUsage(usage: unknown): Pick<Told, 'usage' | 'contradictory' | 'parts'> {
  const prompt = peekCount(usage, 'promptTokenCount')
  if (prompt === null && peekCount(usage, 'totalTokenCount') === null) return { usage: null, contradictory: false }
  const part = (name: string) => peekCount(usage, name) ?? 0
  return {
    ...normalise({
      input: (prompt ?? 0) + part('toolUsePromptTokenCount'),
      output: part('candidatesTokenCount') + part('thoughtsTokenCount'),
      reasoning: part('thoughtsTokenCount'),
      cacheRead: part('cachedContentTokenCount'),
      cacheWrite: null,
    }),
    parts: audioParts(usage),
  }
}

function audioParts(usage: unknown): PricedParts {
  const audio = (list: string) => {
    const detail = peekList(usage, list).find((entry) => peek(entry, 'modality') === 'AUDIO')
    return peekCount(detail, 'tokenCount')
  }
  const input = audio('promptTokensDetails')
  const cached = audio('cacheTokensDetails')
  const output = audio('candidatesTokensDetails')
  return {
    ...(input ? { inputAudio: input } : {}),
    ...(cached ? { cacheReadAudio: cached } : {}),
    ...(output ? { outputAudio: output } : {}),
  }
}
