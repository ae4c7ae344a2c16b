import { toMicroUsd } from '../../record/usage.ts'
import type { PricedParts } from '../exchange.ts'
import { type Answer, NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { normalise } from './normalise.ts'
import { peek, peekCount, peekList, peekText, pick } from './peek.ts'

const deployment = /\/deployments\/([^/]+)\//

/** Chat Completions, as OpenAI defined it and the compatible hosts speak it; Azure names the deployment in the path. */
export const openaiChat: WireApi = {
  api: 'openai-chat',
  vendor: 'openai',
  matches: (method, path) => method === 'POST' && /\/chat\/completions\/?$/.test(path),
  speaks: (body, path) =>
    (peekText(body, 'model') ?? deploymentOf(path)) !== null && Array.isArray(peek(body, 'messages')),
  ask: (body, path) => ({
    model: peekText(body, 'model') ?? deploymentOf(path),
    streamed: peek(body, 'stream') === true,
    prompt: pick(body, ['messages', 'tools', 'functions']),
  }),
  tell: (answer) => (answer.kind === 'json' ? tellWhole(answer.value) : tellStream(answer.events)),
}

/** The deployment in an Azure path, else null. */
export function deploymentOf(path: string): string | null {
  const found = deployment.exec(path)?.[1]
  if (found === undefined) return null
  try {
    return decodeURIComponent(found)
  } catch {
    return found
  }
}

function tellWhole(value: unknown): Told {
  const error = peek(value, 'error') ?? peek(value, 'choices', 0, 'error')
  const choices = peekList(value, 'choices')
  const finish = choices.map((choice) => peekText(choice, 'finish_reason'))
  return {
    servedModel: peekText(value, 'model'),
    ...chatUsage(peek(value, 'usage')),
    finishReason: finish.find((reason) => reason !== null) ?? null,
    truncatedByLength: finish.includes('length'),
    complete: Array.isArray(peek(value, 'choices')) || error !== undefined,
    ...(error === undefined || error === null ? {} : { error }),
    responseId: peekText(value, 'id'),
  }
}

function tellStream(events: Extract<Answer, { kind: 'events' }>['events']): Told {
  let told: Told = NOTHING_TOLD
  let usage: unknown
  let done = false
  const finish = new Map<unknown, string | null>()
  for (const { data, json } of events) {
    if (data.trim() === '[DONE]') done = true
    const error = peek(json, 'error')
    if (error !== undefined && error !== null) told = { ...told, error }
    told = {
      ...told,
      servedModel: told.servedModel ?? peekText(json, 'model'),
      responseId: told.responseId ?? peekText(json, 'id'),
    }
    // The last one stands: hosts that report with every chunk report running totals. Groq's older form nests it.
    usage = peek(json, 'usage') ?? peek(json, 'x_groq', 'usage') ?? usage
    for (const choice of peekList(json, 'choices')) {
      const index = peek(choice, 'index') ?? 0
      finish.set(index, peekText(choice, 'finish_reason') ?? finish.get(index) ?? null)
    }
  }
  const reasons = [...finish.values()]
  return {
    ...told,
    ...chatUsage(usage),
    finishReason: reasons.find((reason) => reason !== null) ?? null,
    truncatedByLength: reasons.includes('length'),
    complete: done || (reasons.length > 0 && reasons.every((reason) => reason !== null)),
  }
}

/** Usage of Chat Completions: `prompt_tokens` includes the cache, `completion_tokens` includes reasoning. */
export function chatUsage(usage: unknown): Pick<Told, 'usage' | 'contradictory' | 'observedMicroUsd' | 'parts'> {
  const input = peekCount(usage, 'prompt_tokens')
  const reasoning = peekCount(usage, 'completion_tokens_details', 'reasoning_tokens')
  return {
    ...normalise({
      input,
      output: wholeOutput(input, peekCount(usage, 'completion_tokens'), reasoning, peekCount(usage, 'total_tokens')),
      reasoning,
      cacheRead:
        peekCount(usage, 'prompt_tokens_details', 'cached_tokens') ??
        // DeepSeek's and Moonshot's (Together's) own places.
        peekCount(usage, 'prompt_cache_hit_tokens') ??
        peekCount(usage, 'cached_tokens'),
      cacheWrite: peekCount(usage, 'prompt_tokens_details', 'cache_write_tokens'),
    }),
    observedMicroUsd: statedCharge(usage),
    parts: audioParts(
      peekCount(usage, 'prompt_tokens_details', 'audio_tokens'),
      peekCount(usage, 'completion_tokens_details', 'audio_tokens'),
    ),
  }
}

/** xAI reports completion tokens without the reasoning tokens; the total it states beside them proves it. */
function wholeOutput(input: number | null, output: number | null, reasoning: number | null, total: number | null) {
  if (input === null || output === null || reasoning === null || total === null || reasoning === 0) return output
  return total === input + output + reasoning ? output + reasoning : output
}

function audioParts(input: number | null, output: number | null): PricedParts {
  return { ...(input ? { inputAudio: input } : {}), ...(output ? { outputAudio: output } : {}) }
}

/**
 * The charge OpenRouter states, in micro-USD. With a key of the user's own (`is_byok`) `cost` is only its fee: the
 * upstream bill comes on top, and without it the charge is not known.
 */
export function statedCharge(usage: unknown): number | null {
  const cost = peek(usage, 'cost')
  if (typeof cost !== 'number' || !(cost >= 0) || !Number.isFinite(cost)) return null
  if (peek(usage, 'is_byok') !== true) return toMicroUsd(cost)
  const upstream = peek(usage, 'cost_details', 'upstream_inference_cost')
  return typeof upstream === 'number' && upstream >= 0 ? toMicroUsd(cost + upstream) : null
}
