import http from 'node:http'
import { PassThrough } from 'node:stream'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI, Type } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import axios from 'axios'
import { createParser } from 'eventsource-parser'
import got from 'got'
import OpenAI from 'openai'
import { fetch as undiciFetch, request as undiciRequest, stream as undiciStream } from 'undici'

/** One call of a model, as a program would make it; resolves with what the program reads. */
export interface Ask {
  readonly url: string
  readonly model: string
  readonly stream: boolean
  readonly tools: boolean
  readonly signal: AbortSignal
  /** Told of every piece of text of a stream. */
  readonly onText: () => void
}

export interface Client {
  readonly name: string
  ask(ask: Ask): Promise<string>
}

const QUESTION = 'Where is it?'
const parameters = { type: 'object', properties: { id: { type: 'integer' }, city: { type: 'string' } } }
const functionTool = { type: 'function', function: { name: 'look_up', description: 'Looks up.', parameters } } as const

type Sent = { readonly status: number; readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> }
type Send = (url: string, body: string, signal: AbortSignal) => Promise<Sent>
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-of-the-test-0123456789' }

const transports: { readonly [name: string]: Send } = {
  async fetch(url, body, signal) {
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    return { status: response.status, body: response.body ?? [] }
  },
  'node:http': (url, body, signal) =>
    new Promise((resolve, reject) => {
      const request = http.request(url, { method: 'POST', headers, signal }, (response) =>
        resolve({ status: response.statusCode ?? 0, body: response }),
      )
      request.on('error', reject).end(body)
    }),
  async axios(url, body, signal) {
    const { status, data } = await axios.post(url, body, {
      ...{ headers, signal, responseType: 'stream', validateStatus: () => true },
    })
    return { status, body: data }
  },
  async got(url, body, signal) {
    const stream = got.stream.post(url, { headers, body, signal, throwHttpErrors: false, retry: { limit: 0 } })
    const status = await new Promise<number>((resolve, reject) => {
      stream.once('response', ({ statusCode }: { statusCode: number }) => resolve(statusCode))
      stream.once('error', reject)
    })
    return { status, body: stream }
  },
  async 'undici fetch'(url, body, signal) {
    const response = await undiciFetch(url, { method: 'POST', headers, body, signal })
    return { status: response.status, body: response.body ?? [] }
  },
  async 'undici request'(url, body, signal) {
    const { statusCode, body: read } = await undiciRequest(url, { method: 'POST', headers, body, signal })
    return { status: statusCode, body: read }
  },
  'undici stream': (url, body, signal) =>
    new Promise((resolve, reject) => {
      const through = new PassThrough()
      undiciStream(url, { method: 'POST', headers, body, signal }, ({ statusCode }) => {
        resolve({ status: statusCode, body: through })
        return through
      }).catch(reject)
    }),
}

/** Chat Completions over a bare transport. */
function plainClient(name: string, send: Send): Client {
  return {
    name,
    async ask({ url, model, stream, tools, signal, onText }) {
      const body = JSON.stringify({
        ...{ model, stream, messages: [{ role: 'user', content: QUESTION }] },
        ...(tools ? { tools: [functionTool] } : {}),
      })
      const sent = await send(`${url}/v1/chat/completions`, body, signal)
      const decoder = new TextDecoder()
      let text = ''
      let said = ''
      const parser = createParser({
        onEvent({ data }) {
          if (data === '[DONE]') return
          const [choice] = (JSON.parse(data) as OpenAI.ChatCompletionChunk).choices
          said += choice?.delta.content ?? choice?.delta.tool_calls?.[0]?.function?.arguments ?? ''
          if (choice?.delta.content) onText()
        },
      })
      for await (const chunk of sent.body) {
        const piece = decoder.decode(chunk, { stream: true })
        text += piece
        if (stream && sent.status === 200) parser.feed(piece)
      }
      if (sent.status !== 200) throw Object.assign(new Error(text), { status: sent.status })
      if (stream) return said
      const { message } = (JSON.parse(text) as OpenAI.ChatCompletion).choices[0] ?? {}
      const call = message?.tool_calls?.[0]
      return message?.content ?? (call?.type === 'function' ? call.function.arguments : '')
    },
  }
}

const openai: Client = {
  name: 'openai chat',
  async ask({ url, model, stream, tools, signal, onText }) {
    const client = new OpenAI({ apiKey: 'sk-of-the-test-0123456789', baseURL: `${url}/v1` })
    const asked = {
      ...{ model, messages: [{ role: 'user' as const, content: QUESTION }] },
      ...(tools ? { tools: [functionTool] } : {}),
    }
    if (!stream) {
      const { choices } = await client.chat.completions.create(asked, { signal })
      const call = choices[0]?.message.tool_calls?.[0]
      return choices[0]?.message.content ?? (call?.type === 'function' ? call.function.arguments : '')
    }
    let said = ''
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }, { signal })) {
      const delta = choices[0]?.delta
      said += delta?.content ?? delta?.tool_calls?.[0]?.function?.arguments ?? ''
      if (delta?.content) onText()
    }
    return said
  },
}

const responses: Client = {
  name: 'openai responses',
  async ask({ url, model, stream, tools, signal, onText }) {
    const client = new OpenAI({ apiKey: 'sk-of-the-test-0123456789', baseURL: `${url}/v1` })
    const asked = {
      ...{ model, input: QUESTION },
      ...(tools ? { tools: [{ type: 'function' as const, name: 'look_up', parameters, strict: false }] } : {}),
    }
    if (!stream) {
      const { output, output_text } = await client.responses.create(asked, { signal })
      return output[0]?.type === 'function_call' ? output[0].arguments : output_text
    }
    let said = ''
    for await (const event of await client.responses.create({ ...asked, stream: true }, { signal })) {
      if (event.type === 'response.output_text.delta') onText()
      if (event.type === 'response.output_text.delta' || event.type === 'response.function_call_arguments.delta') {
        said += event.delta
      }
    }
    return said
  },
}

const anthropic: Client = {
  name: 'anthropic',
  async ask({ url, model, stream, tools, signal, onText }) {
    const client = new Anthropic({ apiKey: 'sk-ant-of-the-test-0123456789', baseURL: url })
    const asked = {
      ...{ model, max_tokens: 64, messages: [{ role: 'user' as const, content: QUESTION }] },
      ...(tools ? { tools: [{ name: 'look_up', input_schema: { ...parameters, type: 'object' as const } }] } : {}),
    }
    if (!stream) {
      const { content } = await client.messages.create(asked, { signal })
      const [block] = content
      return block?.type === 'text' ? block.text : block?.type === 'tool_use' ? JSON.stringify(block.input) : ''
    }
    let said = ''
    for await (const event of await client.messages.create({ ...asked, stream: true }, { signal })) {
      if (event.type !== 'content_block_delta') continue
      if (event.delta.type === 'text_delta') {
        said += event.delta.text
        onText()
      }
      if (event.delta.type === 'input_json_delta') said += event.delta.partial_json
    }
    return said
  },
}

const gemini: Client = {
  name: 'google genai',
  async ask({ url, model, stream, tools, signal, onText }) {
    const client = new GoogleGenAI({
      apiKey: 'AIzaOfTheTest0123456789',
      httpOptions: { baseUrl: url, retryOptions: { attempts: 3 } },
    })
    const properties = { id: { type: Type.INTEGER }, city: { type: Type.STRING } }
    const asked = {
      ...{ model, contents: QUESTION },
      config: {
        abortSignal: signal,
        ...(tools
          ? { tools: [{ functionDeclarations: [{ name: 'look_up', parameters: { type: Type.OBJECT, properties } }] }] }
          : {}),
      },
    }
    if (!stream) {
      const { text, functionCalls } = await client.models.generateContent(asked)
      return text ?? JSON.stringify(functionCalls?.[0]?.args)
    }
    let said = ''
    for await (const { text, functionCalls } of await client.models.generateContentStream(asked)) {
      said += text ?? JSON.stringify(functionCalls?.[0]?.args)
      if (text) onText()
    }
    return said
  },
}

function aiSdk(api: 'chat' | 'responses'): Client {
  return {
    name: `ai SDK ${api}`,
    async ask({ url, model, stream, tools, signal, onText }) {
      const provider = createOpenAI({ apiKey: 'sk-of-the-test-0123456789', baseURL: `${url}/v1` })
      const asked = {
        ...{ model: provider[api](model), prompt: QUESTION, abortSignal: signal },
        ...(tools ? { tools: { look_up: tool({ inputSchema: jsonSchema({ type: 'object' }) }) } } : {}),
      }
      if (!stream) {
        const { text, toolCalls } = await generateText(asked)
        return tools ? JSON.stringify(toolCalls[0]?.input) : text
      }
      let said = ''
      const { fullStream } = streamText({ ...asked, onError: () => {} })
      for await (const part of fullStream) {
        if (part.type === 'error') throw part.error
        if (part.type === 'abort') throw signal.reason
        if (part.type === 'tool-call') said += JSON.stringify(part.input)
        if (part.type !== 'text-delta') continue
        said += part.text
        onText()
      }
      return said
    },
  }
}

const bedrock: Client = {
  name: 'bedrock',
  async ask({ url, model, stream, tools, signal, onText }) {
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: url,
      credentials: { accessKeyId: 'AKIAOFTHETEST0123456', secretAccessKey: 'secret-of-the-test-0123456789' },
      requestHandler: new NodeHttpHandler(),
      // Its own waits between attempts are of the SDK, not of a recording.
      retryStrategy: undefined,
    })
    const asked: ConverseCommandInput = {
      modelId: model,
      messages: [{ role: 'user', content: [{ text: QUESTION }] }],
      ...(tools
        ? { toolConfig: { tools: [{ toolSpec: { name: 'look_up', inputSchema: { json: { type: 'object' } } } }] } }
        : {}),
    }
    if (!stream) {
      const { output } = await client.send(new ConverseCommand(asked), { abortSignal: signal })
      const [block] = output?.message?.content ?? []
      return block?.text ?? JSON.stringify(block?.toolUse?.input)
    }
    let said = ''
    const answer = await client.send(new ConverseStreamCommand(asked), { abortSignal: signal })
    for await (const { contentBlockDelta } of answer.stream ?? []) {
      said += contentBlockDelta?.delta?.text ?? contentBlockDelta?.delta?.toolUse?.input ?? ''
      if (contentBlockDelta?.delta?.text) onText()
    }
    return said
  },
}

export const clients: readonly Client[] = [
  ...Object.entries(transports).map(([name, send]) => plainClient(name, send)),
  ...[openai, responses, anthropic, gemini, aiSdk('chat'), aiSdk('responses'), bedrock],
]
