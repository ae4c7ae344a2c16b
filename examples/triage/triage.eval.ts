import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { evalCampaign, exactMatch } from 'vitest-campaign'
import { CONCISE, DETAILED, LABELS } from './prompts.ts'
import tickets from './tickets.json' with { type: 'json' }

interface Variant {
  readonly api: 'openai' | 'openai-stream' | 'anthropic'
  readonly model: string
  readonly system: string
}

const variants: { readonly [id: string]: Variant } = {
  current: { api: 'openai', model: 'gpt-5-mini', system: DETAILED },
  concise: { api: 'openai-stream', model: 'gpt-5-mini', system: CONCISE },
  haiku: { api: 'anthropic', model: 'claude-haiku-4-5', system: CONCISE },
}

evalCampaign('triage', {
  variants,
  scenarios: tickets,
  seeds: 3,
  run: ({ variant, scenario, seed, signal }) => ask[variant.api](variant, scenario.ticket, seed, signal),
  scorers: {
    label: exactMatch(),
    // Is it one of our labels at all, right or wrong?
    format: ({ output }) => LABELS.some((label) => label === output.trim()),
  },
  // Concise is cheaper: it may be up to ten points worse, and that has to be shown.
  gate: { comparator: 'current', primary: 'label', margin: 0.1 },
})

type Ask = (variant: Variant, ticket: string, seed: number, signal: AbortSignal) => Promise<string>

const ask: { readonly [api in Variant['api']]: Ask } = {
  async openai({ model, system }, ticket, seed, signal) {
    const answer = await new OpenAI().chat.completions.create(
      { model, seed, reasoning_effort: 'minimal', messages: messages(system, ticket) },
      { signal },
    )
    return answer.choices[0]?.message.content ?? ''
  },

  async 'openai-stream'({ model, system }, ticket, seed, signal) {
    const chunks = await new OpenAI().chat.completions.create(
      {
        model,
        seed,
        reasoning_effort: 'minimal',
        messages: messages(system, ticket),
        stream: true,
        // Without it OpenAI streams no token counts, and the cost of the variant would be unknown.
        stream_options: { include_usage: true },
      },
      { signal },
    )
    let text = ''
    for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? ''
    return text
  },

  // This API takes no seed: the three seeds of a ticket are plain repeats.
  async anthropic({ model, system }, ticket, _seed, signal) {
    const answer = await new Anthropic().messages.create(
      { model, system, max_tokens: 16, messages: [{ role: 'user', content: ticket }] },
      { signal },
    )
    return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
}

function messages(system: string, ticket: string) {
  return [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content: ticket },
  ]
}
