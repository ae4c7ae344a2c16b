import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { priceExchange } from '../../../src/core/record/cost.ts'
import { toMicroUsd } from '../../../src/core/record/usage.ts'
import { readExchange } from '../../../src/core/traffic/wire/read.ts'

/** A question as the provider saw it. */
export interface Asked {
  readonly model: string
  readonly content: string
}

export interface CountingProvider {
  /** Every question that reached it, answered or not. */
  readonly asked: readonly Asked[]
  /** What it charges for all of them, by the list. */
  charged(): number
  readonly env: NodeJS.ProcessEnv
  /** Questions since this was last asked. */
  fresh(): readonly Asked[]
  /** Resolves when so many questions have come. */
  reached(count: number): Promise<void>
}

/** `hold`: no answer, ever; `fail` and `down` (which is tried again) charge nothing. */
export type Reply = 'answer' | 'hold' | 'fail' | 'down'

const PROMPT_TOKENS = 20
const ANSWER_TOKENS = 5

/**
 * OpenAI on this machine: it counts what it is asked, and charges for every question that it does not refuse, whoever
 * hears the answer.
 */
export async function countingProvider(
  reply: (asked: Asked, count: number) => Reply | Promise<Reply> = () => 'answer',
): Promise<CountingProvider> {
  const asked: Asked[] = []
  let charged = 0
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  async function respond(body: string, response: ServerResponse): Promise<void> {
    const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] }
    const question = { model, content: messages.at(-1)?.content ?? '' }
    asked.push(question)
    for (const { count, resolve } of waiting) if (asked.length >= count) resolve()
    const how = await reply(question, asked.length)
    if (how === 'answer' || how === 'hold') charged += priceOf(model, question.content)
    if (how === 'hold') return
    if (how !== 'answer') {
      const headers = { 'content-type': 'application/json', 'retry-after-ms': '1' }
      response.writeHead(how === 'fail' ? 400 : 500, headers).end('{"error":{"message":"not today"}}')
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(model, question.content))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void respond(Buffer.concat(chunks).toString(), response))
  })
  const sockets = new Set<Socket>()
  server.on('connect', (_request, socket: Socket) => {
    sockets.add(socket)
    // A client that was killed leaves its connection broken.
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    server.emit('connection', socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let seen = 0
  return {
    asked,
    charged: () => charged,
    env: {
      EVALS_MODE: 'live',
      HTTP_PROXY: url,
      http_proxy: url,
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
      OPENAI_BASE_URL: 'http://api.openai.com/v1',
      OPENAI_API_KEY: 'key-of-the-test',
    },
    fresh() {
      const since = asked.slice(seen)
      seen = asked.length
      return since
    },
    reached: (count) =>
      new Promise((resolve) => {
        if (asked.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}

function answerTo(model: string, content: string): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: `answer ${content.length}` }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: ANSWER_TOKENS,
      total_tokens: PROMPT_TOKENS + ANSWER_TOKENS,
    },
  })
}

const prices = new Map<string, number>()

/** Micro-USD of one call, as the package prices it: whether its prices are right is tested elsewhere. */
function priceOf(model: string, content: string): number {
  const known = prices.get(model)
  if (known !== undefined) return known
  const reading = readExchange({
    request: {
      method: 'POST',
      url: 'http://api.openai.com/v1/chat/completions',
      headers: [],
      body: { text: JSON.stringify({ model, messages: [{ role: 'user', content }] }) },
    },
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers: [['content-type', 'application/json']],
      body: { text: answerTo(model, content) },
      cuts: [],
      end: { kind: 'complete' },
    },
  })
  const cost = reading === null ? null : priceExchange(reading, new Date()).microUsd
  if (cost === null || cost <= 0) throw new Error(`${model} has no price: the money of this test would be none`)
  prices.set(model, cost)
  return cost
}

export const microUsd = (usd: number | null): number => (usd === null ? Number.NaN : toMicroUsd(usd))
