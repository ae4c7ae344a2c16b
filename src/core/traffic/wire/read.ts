import type {
  Body,
  Exchange,
  ExchangeFault,
  ExchangeRequest,
  ExchangeResponse,
  HeaderList,
  WireReading,
} from '../exchange.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { type Answer, NOTHING_TOLD, type Told, type WireApi } from './api.ts'
import { readAwsEvents } from './aws-event-stream.ts'
import { bedrockConverse } from './bedrock-converse.ts'
import { cohereChat } from './cohere-chat.ts'
import { classifyError } from './errors.ts'
import { gemini } from './gemini.ts'
import { type Host, hostOf, isLoopback } from './hosts.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiEmbeddings } from './openai-embeddings.ts'
import { openaiResponses } from './openai-responses.ts'
import { parseJson } from './peek.ts'
import { isEventStream, readEvents } from './stream.ts'

/** The provider APIs we read; the first that matches is taken. */
const APIS: readonly WireApi[] = [
  openaiChat,
  openaiResponses,
  anthropicMessages,
  gemini,
  bedrockConverse,
  cohereChat,
  openaiEmbeddings,
]

/** What can be said of a request before it leaves. */
export type RequestReading = Pick<
  WireReading,
  'api' | 'provider' | 'requestedModel' | 'lane' | 'streamed' | 'prompt' | 'pricing'
>

interface Recognised {
  readonly api: WireApi
  readonly reading: RequestReading
}

/**
 * Provider, model and lane of a request before it leaves; null where it speaks no provider API we know.
 *
 * The path decides on a known provider's host. Elsewhere (loopback, gateways) the body must have the API's shape too:
 * an application's own `/messages` is no model call.
 */
export function readRequest(request: Pick<ExchangeRequest, 'method' | 'url' | 'body'>): RequestReading | null {
  return recognise(request)?.reading ?? null
}

function recognise(request: Pick<ExchangeRequest, 'method' | 'url' | 'body'>): Recognised | null {
  if (!URL.canParse(request.url)) return null
  const url = new URL(request.url)
  const method = request.method.toUpperCase()
  const candidates = APIS.filter((api) => api.matches(method, url.pathname))
  if (candidates.length === 0) return null
  const text = bodyText(request.body)
  const body = text === null ? undefined : parseJson(text)
  const host = hostOf(url)
  const api = candidates.find((candidate) => host !== null || candidate.speaks(body, url.pathname))
  if (api === undefined) return null
  const { provider, priceId } = host ?? strangerOf(url, api)
  const { model, streamed, prompt } = api.ask(body, url.pathname)
  return {
    api,
    reading: {
      api: api.api,
      provider,
      requestedModel: model,
      lane: `${provider}/${model ?? 'unknown'}`,
      streamed,
      prompt,
      pricing: { provider: priceId, parts: {} },
    },
  }
}

/** Loopback stands for the vendor of the API it speaks (a local double); any other unknown host for itself. */
function strangerOf(url: URL, api: WireApi): Host {
  return isLoopback(url) ? { provider: api.vendor, priceId: api.vendor } : { provider: url.host, priceId: null }
}

/** Everything the wire says about one exchange with a model provider; null where no provider API is known. */
export function readExchange(exchange: Pick<Exchange, 'request' | 'outcome'>): WireReading | null {
  const recognised = recognise(exchange.request)
  if (recognised === null) return null
  const { api, reading } = recognised
  return exchange.outcome.kind === 'fault'
    ? readFault(reading, exchange.outcome)
    : readResponse(reading, api, exchange.outcome)
}

function readFault(request: RequestReading, fault: ExchangeFault): WireReading {
  return {
    ...request,
    ...assemble(NOTHING_TOLD),
    // A connection that never opened carried no request, so nothing was bought; after that nobody knows.
    usageMissing: fault.phase === 'connect' ? 'error-response' : 'incomplete',
    error: { kind: 'other', message: `${fault.code}: ${fault.message}` },
  }
}

function readResponse(request: RequestReading, api: WireApi, response: ExchangeResponse): WireReading {
  const text = bodyText(response.body)
  const ended = response.end.kind === 'complete'
  if (response.status >= 400) {
    const error = classifyError(response.status, text === null ? undefined : parseJson(text), text ?? '')
    return { ...request, ...assemble(NOTHING_TOLD), complete: ended, usageMissing: 'error-response', error }
  }
  const answer = text === null ? null : parseAnswer(headerOf(response.headers, 'content-type'), text, response.body)
  if (answer === null) {
    return { ...request, ...assemble(NOTHING_TOLD), usageMissing: ended ? 'unreadable' : 'incomplete', error: null }
  }
  const told = api.tell(answer)
  // A stream is whole when its terminal event came, however the connection ended; JSON that parses is whole anyway.
  const complete = told.complete
  return {
    ...request,
    ...assemble(told),
    streamed: request.streamed || answer.kind === 'events',
    complete,
    // Counts of an answer that broke off are those of its beginning: a bill nobody sent.
    usage: complete ? told.usage : null,
    usageMissing: missingUsage(told, complete, ended && answer.kind === 'json'),
    error: told.error === undefined ? null : classifyError(null, told.error, ''),
    pricing: { provider: request.pricing.provider, parts: told.parts ?? {} },
  }
}

/** `parsed`: a JSON body that came whole, so that what is missing is missing and not on its way. */
function missingUsage(told: Told, complete: boolean, parsed: boolean): WireReading['usageMissing'] {
  if (!complete) return parsed ? 'unreadable' : 'incomplete'
  if (told.contradictory === true) return 'unreadable'
  return told.usage === null ? 'not-reported' : null
}

function assemble(told: Told): Omit<WireReading, keyof RequestReading | 'usageMissing' | 'error'> {
  return {
    servedModel: told.servedModel,
    usage: told.usage,
    finishReason: told.finishReason,
    truncatedByLength: told.truncatedByLength,
    complete: told.complete,
    observedMicroUsd: told.observedMicroUsd ?? null,
    responseId: told.responseId,
  }
}

function parseAnswer(contentType: string | null, text: string, body: Body): Answer | null {
  if (contentType !== null && /^\s*application\/vnd\.amazon\.eventstream\b/i.test(contentType)) {
    return { kind: 'events', events: readAwsEvents(bodyBytes(body)) }
  }
  if (isEventStream(contentType, text)) return { kind: 'events', events: readEvents(text) }
  const value = parseJson(text)
  return value === undefined ? null : { kind: 'json', value }
}

function headerOf(headers: HeaderList, name: string): string | null {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1] ?? null
}

function bodyText(body: Body): string | null {
  if (body === null) return null
  return 'text' in body ? body.text : Buffer.from(body.base64, 'base64').toString('utf8')
}

function bodyBytes(body: Body): Buffer {
  if (body === null) return Buffer.alloc(0)
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64')
}
