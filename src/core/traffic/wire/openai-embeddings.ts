import { NOTHING_TOLD, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { deploymentOf, statedCharge } from './openai-chat.ts'
import { peek, peekCount, peekText, pick } from './peek.ts'

/** Embeddings. Output tokens are 0 by nature, not by report: nothing is generated. */
export const openaiEmbeddings: WireApi = {
  api: 'openai-embeddings',
  vendor: 'openai',
  matches: (method, path) => method === 'POST' && /\/embeddings\/?$/.test(path),
  speaks: (body) => peekText(body, 'model') !== null && peek(body, 'input') !== undefined,
  ask: (body, path) => ({
    model: peekText(body, 'model') ?? deploymentOf(path),
    streamed: false,
    prompt: pick(body, ['input']),
  }),
  tell: (answer) => {
    if (answer.kind === 'events') return NOTHING_TOLD
    const usage = peek(answer.value, 'usage')
    // Voyage reports the total alone.
    const input = peekCount(usage, 'prompt_tokens') ?? peekCount(usage, 'total_tokens')
    return {
      servedModel: peekText(answer.value, 'model'),
      ...normalise({ input, output: input === null ? null : 0, reasoning: null, cacheRead: null, cacheWrite: null }),
      finishReason: null,
      truncatedByLength: false,
      complete: Array.isArray(peek(answer.value, 'data')),
      observedMicroUsd: statedCharge(usage),
      responseId: null,
    }
  },
}
