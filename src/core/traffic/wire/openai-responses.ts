import { type Answer, NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { deploymentOf, statedCharge } from './openai-chat.ts'
import { peek, peekCount, peekText, pick } from './peek.ts'

const create = /\/responses(?:\/compact)?\/?$/
const fetchAgain = /\/responses\/resp_[^/]+\/?$/

/** The Responses API: create, compact, and fetching a background answer again. */
export const openaiResponses: WireApi = {
  api: 'openai-responses',
  vendor: 'openai',
  matches: (method, path) => (method === 'POST' && create.test(path)) || (method === 'GET' && fetchAgain.test(path)),
  speaks: (body, path) =>
    fetchAgain.test(path) ||
    (peekText(body, 'model') !== null && (peek(body, 'input') !== undefined || peek(body, 'prompt') !== undefined)),
  ask: (body, path) => ({
    model: peekText(body, 'model') ?? deploymentOf(path),
    streamed: peek(body, 'stream') === true,
    prompt: pick(body, ['instructions', 'input', 'prompt', 'tools', 'previous_response_id', 'conversation']),
  }),
  tell: (answer) => (answer.kind === 'json' ? tellResponse(answer.value, true) : tellStream(answer.events)),
}

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled']

function tellStream(events: Extract<Answer, { kind: 'events' }>['events']): Told {
  let last: unknown
  let complete = false
  let error: unknown
  for (const { event, json } of events) {
    const type = peekText(json, 'type') ?? event
    const response = peek(json, 'response')
    if (response !== undefined) last = response
    if (type !== null && TERMINAL.includes(type)) complete = true
    if (type === 'error') error = peek(json, 'error') ?? json
  }
  const told = last === undefined ? NOTHING_TOLD : tellResponse(last, complete)
  return { ...told, complete, ...(error === undefined ? {} : { error }) }
}

function tellResponse(response: unknown, terminal: boolean): Told {
  const status = peekText(response, 'status')
  const reason = peekText(response, 'incomplete_details', 'reason')
  const error = peek(response, 'error')
  const usage = peek(response, 'usage')
  return {
    servedModel: peekText(response, 'model'),
    ...normalise({
      input: peekCount(usage, 'input_tokens'),
      output: peekCount(usage, 'output_tokens'),
      reasoning: peekCount(usage, 'output_tokens_details', 'reasoning_tokens'),
      cacheRead: peekCount(usage, 'input_tokens_details', 'cached_tokens'),
      cacheWrite: peekCount(usage, 'input_tokens_details', 'cache_write_tokens'),
    }),
    // The API has no finish reason: its status stands for it, or why the answer is incomplete.
    finishReason: terminal ? (reason ?? status) : null,
    truncatedByLength: reason === 'max_output_tokens',
    complete: peek(response, 'output') !== undefined || status !== null,
    ...(error === undefined || error === null ? {} : { error }),
    observedMicroUsd: statedCharge(usage),
    responseId: peekText(response, 'id'),
  }
}
