import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { awsEvent } from '../../../harness/aws-event.ts'
import { serve } from '../harness.ts'

/**
 * How a model of the host behaves is the first word of its name: `plain`, `tool` (asks for the tool `look_up`), `error`
 * (400), `busy` (429, then as `plain`), `stall` (two events, then nothing until the client goes).
 */
interface Asked {
  readonly model: string
  readonly stream: boolean
  readonly api: 'chat' | 'responses' | 'messages' | 'gemini' | 'converse'
}

export interface ModelHost {
  readonly url: string
  /** Requests that arrived. */
  readonly calls: () => number
  /** Stalled streams whose client went away. */
  readonly left: () => number
  stop(): void
}

/** The APIs of OpenAI, Anthropic, Gemini and Bedrock on this machine, for the length of the test. */
export async function modelHost(): Promise<ModelHost> {
  let calls = 0
  let left = 0
  const busy = new Set<string>()
  const { url, server } = await serve((request, response) => {
    calls++
    void read(request).then(async (asked) => {
      const behaviour = asked.model.split('-', 1)[0]
      if (behaviour === 'busy' && !busy.has(`${asked.api} ${asked.model} ${asked.stream}`)) {
        busy.add(`${asked.api} ${asked.model} ${asked.stream}`)
        return problem(response, asked, 429)
      }
      if (behaviour === 'error') return problem(response, asked, 400)
      const tool = behaviour === 'tool'
      if (!asked.stream) {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(whole(asked, tool)))
        return
      }
      response.setHeader(
        'content-type',
        asked.api === 'converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
      )
      const events = pieces(asked, tool)
      if (behaviour === 'stall') {
        response.once('close', () => left++)
        response.write(Buffer.concat(events.slice(0, asked.api === 'responses' ? 5 : 3)))
        return
      }
      // Cut where no event ends.
      const bytes = Buffer.concat(events)
      for (let at = 0; at < bytes.length; at += 97) {
        response.write(bytes.subarray(at, at + 97))
        await turn()
      }
      response.end()
    })
  })
  return {
    url,
    calls: () => calls,
    left: () => left,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { model?: string; stream?: boolean }
  const path = decodeURIComponent(request.url ?? '')
  const gemini = /\/models\/([^:]+):(stream)?/i.exec(path)
  if (gemini !== null) return { api: 'gemini', model: gemini[1] ?? '', stream: gemini[2] !== undefined }
  const converse = /\/model\/(.+)\/converse(-stream)?$/.exec(path)
  if (converse !== null) return { api: 'converse', model: converse[1] ?? '', stream: converse[2] !== undefined }
  const api = path.endsWith('/messages') ? 'messages' : path.endsWith('/responses') ? 'responses' : 'chat'
  return { api, model: body.model ?? '', stream: body.stream === true }
}

function problem(response: ServerResponse, { api }: Asked, status: 400 | 429): void {
  const message = status === 429 ? 'Slow down' : 'That is no request'
  const type = status === 429 ? 'rate_limit_error' : 'invalid_request_error'
  const body =
    api === 'gemini'
      ? { error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INVALID_ARGUMENT' } }
      : api === 'converse'
        ? { message }
        : { type: 'error', error: { type, message } }
  response.writeHead(status, {
    'content-type': 'application/json',
    'retry-after-ms': '1',
    'x-amzn-errortype': status === 429 ? 'ThrottlingException' : 'ValidationException',
  })
  response.end(JSON.stringify(body))
}

const ARGUMENTS = '{"id":9007199254740993,"city":"Zürich"}'
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const geminiUsage = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: ARGUMENTS } }

function whole({ api, model }: Asked, tool: boolean): unknown {
  const text = `answer of ${model}`
  switch (api) {
    case 'chat': {
      const message = tool
        ? { role: 'assistant', content: null, tool_calls: [call] }
        : { role: 'assistant', content: text }
      return {
        ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, usage },
        choices: [{ index: 0, message, finish_reason: tool ? 'tool_calls' : 'stop', logprobs: null }],
      }
    }
    case 'responses':
      return response(model, tool, 'completed')
    case 'messages':
      return {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null },
        content: tool
          ? [{ type: 'tool_use', id: 'toolu_1', name: 'look_up', input: JSON.parse(ARGUMENTS) }]
          : [{ type: 'text', text }],
        stop_reason: tool ? 'tool_use' : 'end_turn',
        usage: { input_tokens: 3, output_tokens: 2 },
      }
    case 'gemini':
      return geminiPart(
        model,
        tool ? { functionCall: { name: 'look_up', args: JSON.parse(ARGUMENTS) } } : { text },
        true,
      )
    case 'converse':
      return {
        output: {
          message: {
            role: 'assistant',
            content: tool
              ? [{ toolUse: { toolUseId: 't1', name: 'look_up', input: JSON.parse(ARGUMENTS) } }]
              : [{ text }],
          },
        },
        stopReason: tool ? 'tool_use' : 'end_turn',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        metrics: { latencyMs: 1 },
      }
  }
}

function response(model: string, tool: boolean, status: 'completed' | 'in_progress'): object {
  const text = `answer of ${model}`
  const item = tool
    ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look_up', arguments: ARGUMENTS, status }
    : {
        ...{ type: 'message', id: 'item_1', role: 'assistant', status },
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      }
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model, status, error: null, incomplete_details: null },
    output: status === 'completed' ? [item] : [],
    usage: status === 'completed' ? { input_tokens: 3, output_tokens: 2, total_tokens: 5 } : null,
  }
}

const geminiPart = (model: string, part: object, last: boolean) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...(last ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: geminiUsage,
  modelVersion: model,
  responseId: 'g1',
})

const words = (model: string) => ['answer', ' of ', 'Zürich ', model]
const data = (value: unknown) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
const named = (value: { readonly type: string }) =>
  Buffer.from(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)
const halves = [ARGUMENTS.slice(0, 11), ARGUMENTS.slice(11)]

/** The events of a streamed answer. */
function pieces(asked: Asked, tool: boolean): Buffer[] {
  const { api, model } = asked
  switch (api) {
    case 'chat': {
      const chunk = (rest: object) => ({
        ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model },
        ...rest,
      })
      const delta = (value: object) => data(chunk({ choices: [{ index: 0, delta: value, finish_reason: null }] }))
      const { id, type } = call
      const content = tool
        ? [
            delta({ tool_calls: [{ index: 0, id, type, function: { name: 'look_up', arguments: '' } }] }),
            ...halves.map((part) => delta({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
          ]
        : words(model).map((word) => delta({ content: word }))
      const finish_reason = tool ? 'tool_calls' : 'stop'
      return [
        delta({ role: 'assistant', content: '' }),
        ...content,
        data(chunk({ choices: [{ index: 0, delta: {}, finish_reason }] })),
        data(chunk({ choices: [], usage })),
        Buffer.from('data: [DONE]\n\n'),
      ]
    }
    case 'responses': {
      const at = { output_index: 0, item_id: tool ? 'fc_1' : 'item_1' }
      const item = tool
        ? {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'call_1',
            name: 'look_up',
            arguments: '',
            status: 'in_progress',
          }
        : { type: 'message', id: 'item_1', role: 'assistant', status: 'in_progress', content: [] }
      const part = { type: 'output_text', text: '', annotations: [] }
      const done = { ...item, arguments: ARGUMENTS, status: 'completed' }
      const middle = tool
        ? [
            ...halves.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
            { type: 'response.function_call_arguments.done', ...at, arguments: ARGUMENTS },
            { type: 'response.output_item.done', output_index: 0, item: done },
          ]
        : [
            { type: 'response.content_part.added', ...at, content_index: 0, part },
            ...words(model).map((delta) => ({
              ...{ type: 'response.output_text.delta', ...at, content_index: 0, delta, logprobs: [] },
            })),
            {
              ...{ type: 'response.output_text.done', ...at, content_index: 0, logprobs: [] },
              text: words(model).join(''),
            },
          ]
      const events = [
        { type: 'response.created', response: response(model, tool, 'in_progress') },
        { type: 'response.output_item.added', output_index: 0, item },
        ...middle,
        { type: 'response.completed', response: response(model, tool, 'completed') },
      ]
      return events.map((event, sequence_number) => named(Object.assign(event, { sequence_number })))
    }
    case 'messages': {
      const message = {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null },
        ...{ stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
      }
      const block = tool ? { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} } : { type: 'text', text: '' }
      const deltas = tool
        ? halves.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
        : words(model).map((text) => ({ type: 'text_delta', text }))
      const stop_reason = tool ? 'tool_use' : 'end_turn'
      return [
        named({ type: 'message_start', message } as { type: string }),
        named({ type: 'content_block_start', index: 0, content_block: block } as { type: string }),
        ...deltas.map((delta) => named({ type: 'content_block_delta', index: 0, delta } as { type: string })),
        named({ type: 'content_block_stop', index: 0 } as { type: string }),
        named({
          ...{ type: 'message_delta', delta: { stop_reason, stop_sequence: null } },
          ...{ usage: { output_tokens: 2 } },
        }),
        named({ type: 'message_stop' }),
      ]
    }
    case 'gemini':
      if (tool) {
        return [data(geminiPart(model, { functionCall: { name: 'look_up', args: JSON.parse(ARGUMENTS) } }, true))]
      }
      return words(model).map((text, index) => data(geminiPart(model, { text }, index === 3)))
    case 'converse': {
      const start = tool ? [{ start: { toolUse: { toolUseId: 't1', name: 'look_up' } }, contentBlockIndex: 0 }] : []
      const deltas = tool ? halves.map((input) => ({ toolUse: { input } })) : words(model).map((text) => ({ text }))
      return [
        awsEvent('messageStart', { role: 'assistant' }),
        ...start.map((value) => awsEvent('contentBlockStart', value)),
        ...deltas.map((delta) => awsEvent('contentBlockDelta', { delta, contentBlockIndex: 0 })),
        awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
        awsEvent('messageStop', { stopReason: tool ? 'tool_use' : 'end_turn' }),
        awsEvent('metadata', {
          usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
          metrics: { latencyMs: 1 },
        }),
      ]
    }
  }
}
