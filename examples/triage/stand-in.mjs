// Records the campaign from a stand-in provider on this machine: fixed replies, no key, no cost.
//
//   node stand-in.mjs [arguments of vitest]
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LLMock } from '@copilotkit/aimock'

/** That of vitest.config.ts: the port is part of what a recorded request is found by. */
const PORT = 4517
const SEEDS = 3
const ROOT = dirname(fileURLToPath(import.meta.url))

/**
 * Where a variant is wrong: what it says to seed 0, 1, 2. Every other ticket it gets right. The mixture is made up, the
 * sort of it is not: tickets that no seed gets right, tickets that one seed gets wrong, and right labels in a sentence.
 */
const ERRORS = {
  current: {
    'gift-card': ['bug', 'bug', 'bug'],
    'refund-late': ['returns', 'returns', 'returns'],
    'half-order': ['returns', 'delivery', 'returns'],
    deadline: ['returns', 'returns', 'billing'],
    'company-name': ['billing', 'account', 'account'],
    'pay-button': ['billing', 'bug', 'billing'],
    'logged-out': ['account', 'account', 'bug'],
  },
  concise: {
    'gift-card': ['bug', 'bug', 'billing'],
    'refund-late': ['returns', 'returns', 'returns'],
    neighbour: ['delivery', 'account', 'delivery'],
    'half-order': ['delivery', 'delivery', 'returns'],
    'two-accounts': ['account', 'account', 'delivery'],
    deadline: ['returns', 'billing', 'returns'],
    'wrong-colour': ['returns', 'delivery', 'returns'],
    'pay-button': ['billing', 'bug', 'bug'],
    'logged-out': ['account', 'bug', 'account'],
  },
  haiku: {
    'gift-card': ['billing', 'billing', 'bug'],
    'vat-id': ['account', 'account', 'account'],
    'plan-price': ['account', 'billing', 'account'],
    'wrong-address': ['account', 'account', 'account'],
    neighbour: ['delivery', 'Delivery.', 'delivery'],
    'half-order': ['delivery', 'delivery', 'delivery'],
    'broken-cup': ['delivery', 'returns', 'delivery'],
    'wrong-colour': ['delivery', 'returns', 'The label is: returns'],
    'two-accounts': ['account', 'account', 'bug'],
    password: ['bug', 'account', 'bug'],
    'refund-late': ['returns', 'returns', 'returns'],
    'pay-button': ['billing', 'billing', 'billing'],
  },
}

/** What the provider calls the model it served. */
const SERVED = { 'gpt-5-mini': 'gpt-5-mini-2025-08-07', 'claude-haiku-4-5': 'claude-haiku-4-5-20251001' }

const tickets = JSON.parse(readFileSync(join(ROOT, 'tickets.json'), 'utf8'))
const tokens = (text) => Math.ceil(text.length / 4)

/** Requests so far, by variant and ticket: the repeats of a request that carries no seed get the replies in turn. */
const asked = new Map()

async function reply(request) {
  await sleep(60)
  const text = (role) => request.messages.find((message) => message.role === role)?.content ?? ''
  const ticket = tickets.find((one) => one.ticket === text('user'))
  if (ticket === undefined) return { error: { message: `no such ticket: ${text('user')}` }, status: 400 }
  const variant = request.model.startsWith('claude') ? 'haiku' : request.stream === true ? 'concise' : 'current'
  const key = `${variant} ${ticket.id}`
  const repeat = asked.get(key) ?? 0
  asked.set(key, repeat + 1)
  const seed = typeof request.seed === 'number' ? request.seed : repeat
  const content = ERRORS[variant][ticket.id]?.[seed % SEEDS] ?? ticket.expected
  const input = tokens(text('system')) + tokens(text('user')) + 11
  const output = tokens(content) + 6
  return {
    content,
    model: SERVED[request.model] ?? request.model,
    usage:
      variant === 'haiku'
        ? { input_tokens: input, output_tokens: output }
        : { prompt_tokens: input, completion_tokens: output },
  }
}

const provider = new LLMock({ port: PORT, host: '127.0.0.1', chunkSize: 4 })
provider.on({ endpoint: 'chat' }, reply, { streamingProfile: { tps: 20 } })
await provider.start()

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const run = spawn(process.execPath, [vitest, 'run', '--root', ROOT, '--project', 'evals', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: {
    ...process.env,
    EVALS_MODE: 'record',
    // Never the user's own keys: this is no provider.
    OPENAI_API_KEY: 'not-a-key-for-the-stand-in',
    ANTHROPIC_API_KEY: 'not-a-key-for-the-stand-in',
  },
})
// Ctrl-C reaches the run too, and a second signal would end it at once: we only stay until it has drained.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => run.kill('SIGTERM'))
run.on('close', async (code) => {
  await provider.stop()
  process.exitCode = code ?? 1
})
