import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request as the provider saw it. */
export interface SeenCall {
  readonly host: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Provider {
  /** Every request that reached a network, in order: what is true about calls. */
  readonly calls: SeenCall[]
  /** Sends the SDKs here, under the hosts of the providers: their prices and keys are part of what is tested. */
  readonly env: NodeJS.ProcessEnv
  /** Address of its own, of no known provider. */
  readonly url: string
  /** Calls since the last time this was asked. */
  fresh(): readonly SeenCall[]
}

export type Answer = (call: SeenCall, response: ServerResponse) => boolean

/**
 * OpenAI and Anthropic on this machine, reached through the proxy variable.
 *
 * @param answer answers a call itself and says so; default: every call gets the usual answer
 */
export async function startProvider(answer: Answer = () => false): Promise<Provider> {
  const calls: SeenCall[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, url: path = '' } = request
      const call = { host: headers.host ?? '', path, headers, body: Buffer.concat(chunks).toString() }
      calls.push(call)
      if (!answer(call, response)) usual(call, response)
    })
  })
  const sockets = new Set<Socket>()
  server.on('connect', (_request, socket: Socket) => {
    sockets.add(socket)
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
  let asked = 0
  return {
    calls,
    url,
    env: {
      HTTP_PROXY: url,
      http_proxy: url,
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
      OPENAI_BASE_URL: 'http://api.openai.com/v1',
      ANTHROPIC_BASE_URL: 'http://api.anthropic.com',
      OPENAI_API_KEY: 'key-of-the-test',
      ANTHROPIC_API_KEY: 'key-of-the-test',
      PROVIDER_URL: url,
    },
    fresh() {
      const since = calls.slice(asked)
      asked = calls.length
      return since
    },
  }
}

const json = { 'content-type': 'application/json' }

/** The same question gets the same answer, with token counts that depend on it. */
function usual({ path, body }: SeenCall, response: ServerResponse): void {
  const asked = body === '' ? {} : (JSON.parse(body) as { model?: string; stream?: boolean })
  const text = `answer ${body.length}`
  if (path === '/v1/messages') {
    response.writeHead(200, json).end(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: asked.model,
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: body.length, output_tokens: 7 },
      }),
    )
  } else if (path === '/v1/chat/completions' && asked.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of streamed(asked.model ?? '', text, body.length)) response.write(`data: ${event}\n\n`)
    response.end()
  } else if (path === '/v1/chat/completions') {
    response.writeHead(200, json).end(completion(asked.model ?? '', text, body.length))
  } else {
    response.writeHead(200, json).end(JSON.stringify({ path, tool: 'answered' }))
  }
}

export function completion(model: string, text: string, tokens: number): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: tokens, completion_tokens: 3, total_tokens: tokens + 3 },
  })
}

/** Data lines of a streamed completion, the last event included. */
export function streamed(model: string, text: string, tokens: number): readonly string[] {
  const chunk = (rest: object) =>
    JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, ...rest })
  return [
    ...[...text].map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage: { prompt_tokens: tokens, completion_tokens: 3, total_tokens: tokens + 3 } }),
    '[DONE]',
  ]
}
