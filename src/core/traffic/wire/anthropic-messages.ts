import { type Answer, NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { peek, peekCount, peekText, pick } from './peek.ts'

const vertex = /\/publishers\/anthropic\/models\/([^/:]+):(?:rawPredict|streamRawPredict)$/

/** The Messages API, on Anthropic's own host, on hosts that speak it, and on Vertex (model in the path). */
export const anthropicMessages: WireApi = {
  api: 'anthropic-messages',
  vendor: 'anthropic',
  matches: (method, path) => method === 'POST' && (/\/messages\/?$/.test(path) || vertex.test(path)),
  speaks: (body) =>
    peekText(body, 'model') !== null && Array.isArray(peek(body, 'messages')) && peek(body, 'max_tokens') !== undefined,
  ask: (body, path) => ({
    model: peekText(body, 'model') ?? vertex.exec(path)?.[1] ?? null,
    streamed: peek(body, 'stream') === true || path.endsWith(':streamRawPredict'),
    prompt: pick(body, ['system', 'messages', 'tools']),
  }),
  tell: (answer) => (answer.kind === 'json' ? tellMessage(answer.value, {}) : tellStream(answer.events)),
}

function tellMessage(message: unknown, laterUsage: unknown): Told {
  const stop = peekText(message, 'stop_reason')
  const error = peek(message, 'error')
  return {
    servedModel: peekText(message, 'model'),
    ...messageUsage(peek(message, 'usage'), laterUsage),
    finishReason: stop,
    truncatedByLength: stop === 'max_tokens' || stop === 'model_context_window_exceeded',
    complete: peek(message, 'type') === 'message' || error !== undefined,
    ...(error === undefined || error === null ? {} : { error }),
    responseId: peekText(message, 'id'),
  }
}

function tellStream(events: Extract<Answer, { kind: 'events' }>['events']): Told {
  let message: unknown
  let later: unknown = {}
  let stop: string | null = null
  let complete = false
  let error: unknown
  for (const { event, json } of events) {
    switch (peekText(json, 'type') ?? event) {
      case 'message_start':
        message = peek(json, 'message')
        break
      case 'message_delta':
        stop = peekText(json, 'delta', 'stop_reason') ?? stop
        later = peek(json, 'usage') ?? later
        break
      case 'message_stop':
        complete = true
        break
      case 'error':
        error = peek(json, 'error') ?? json
        break
    }
  }
  const told = message === undefined ? NOTHING_TOLD : tellMessage(message, later)
  return {
    ...told,
    finishReason: stop ?? told.finishReason,
    truncatedByLength: stop === 'max_tokens' || stop === 'model_context_window_exceeded',
    complete,
    ...(error === undefined ? {} : { error }),
  }
}

/**
 * `input_tokens` is what the cache neither gave nor took: the whole is the sum of the three. In a stream the last
 * `message_delta` holds running totals and replaces what `message_start` said, number by number.
 */
function messageUsage(first: unknown, later: unknown): Pick<Told, 'usage' | 'contradictory' | 'parts'> {
  const count = (...path: string[]) => peekCount(later, ...path) ?? peekCount(first, ...path)
  const fresh = count('input_tokens')
  const cacheRead = count('cache_read_input_tokens')
  const cacheWrite = count('cache_creation_input_tokens')
  const hour = count('cache_creation', 'ephemeral_1h_input_tokens')
  return {
    ...normalise({
      input: fresh === null ? null : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
      output: count('output_tokens'),
      reasoning: count('output_tokens_details', 'thinking_tokens'),
      cacheRead,
      cacheWrite,
    }),
    parts: hour !== null && hour > 0 && hour <= (cacheWrite ?? 0) ? { cacheWrite1h: hour } : {},
  }
}
