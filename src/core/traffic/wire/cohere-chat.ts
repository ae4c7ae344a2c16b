import { NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { peek, peekCount, peekText, pick } from './peek.ts'

/** Cohere's chat API, version 2. It does not name the model that answered. */
export const cohereChat: WireApi = {
  api: 'cohere-chat',
  vendor: 'cohere',
  matches: (method, path) => method === 'POST' && /\/v2\/chat\/?$/.test(path),
  speaks: (body) => peekText(body, 'model') !== null && Array.isArray(peek(body, 'messages')),
  ask: (body) => ({
    model: peekText(body, 'model'),
    streamed: peek(body, 'stream') === true,
    prompt: pick(body, ['messages', 'tools']),
  }),
  tell(answer) {
    if (answer.kind === 'json') return tellAnswer(answer.value, peekText(answer.value, 'id'))
    const end = answer.events.find(({ json }) => peekText(json, 'type') === 'message-end')
    if (end === undefined) return NOTHING_TOLD
    return tellAnswer(peek(end.json, 'delta'), peekText(end.json, 'id'))
  },
}

/** `tokens` is what was processed, `billed_units` what is charged without the provider's own preamble. */
function tellAnswer(value: unknown, responseId: string | null): Told {
  const finishReason = peekText(value, 'finish_reason')
  return {
    servedModel: null,
    ...normalise({
      input: peekCount(value, 'usage', 'tokens', 'input_tokens'),
      output: peekCount(value, 'usage', 'tokens', 'output_tokens'),
      reasoning: null,
      cacheRead: peekCount(value, 'usage', 'cached_tokens'),
      cacheWrite: null,
    }),
    finishReason,
    truncatedByLength: finishReason === 'MAX_TOKENS',
    complete: finishReason !== null,
    responseId,
  }
}
