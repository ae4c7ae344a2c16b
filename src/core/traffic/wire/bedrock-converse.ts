import { NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { peek, peekCount, peekText, pick } from './peek.ts'

const PATH = /\/model\/([^/]+)\/converse(-stream)?$/

/** Bedrock's Converse API, whole and streamed. The model stands in the path, and the answer does not name one. */
export const bedrockConverse: WireApi = {
  api: 'bedrock-converse',
  vendor: 'bedrock',
  matches: (method, path) => method === 'POST' && PATH.test(path),
  speaks: (body) => Array.isArray(peek(body, 'messages')),
  ask: (body, path) => {
    const found = PATH.exec(path)
    return {
      model: found?.[1] === undefined ? null : decoded(found[1]),
      streamed: found?.[2] !== undefined,
      prompt: pick(body, ['system', 'messages', 'toolConfig']),
    }
  },
  tell(answer) {
    if (answer.kind === 'json') {
      const stop = peekText(answer.value, 'stopReason')
      return told(stop, answer.value, stop !== null)
    }
    const stop = answer.events.find(({ event }) => event === 'messageStop')
    const metadata = answer.events.find(({ event }) => event === 'metadata')
    const failed = answer.events.find(({ event }) => event?.endsWith('Exception') === true)
    if (stop === undefined && metadata === undefined && failed === undefined) return NOTHING_TOLD
    return {
      // `metadata`, with the usage, comes after `messageStop` and is the last event.
      ...told(peekText(stop?.json, 'stopReason'), metadata?.json, stop !== undefined && metadata !== undefined),
      ...(failed === undefined ? {} : { error: failed.json }),
    }
  },
}

/** `inputTokens` is what the cache neither gave nor took. */
function told(stop: string | null, value: unknown, complete: boolean): Told {
  const fresh = peekCount(value, 'usage', 'inputTokens')
  const cacheRead = peekCount(value, 'usage', 'cacheReadInputTokens')
  const cacheWrite = peekCount(value, 'usage', 'cacheWriteInputTokens')
  return {
    servedModel: null,
    ...normalise({
      input: fresh === null ? null : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
      output: peekCount(value, 'usage', 'outputTokens'),
      reasoning: null,
      cacheRead,
      cacheWrite,
    }),
    finishReason: stop,
    truncatedByLength: stop === 'max_tokens' || stop === 'model_context_window_exceeded',
    complete,
    responseId: null,
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // A stray `%` in a path somebody typed: the name as it stands.
    return segment
  }
}
