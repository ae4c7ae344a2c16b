import { createParser } from 'eventsource-parser'
import { parseJson } from './peek.ts'

/** One server-sent event; `json` is undefined where the data is not JSON (`[DONE]`, a torn event). */
export interface ServerEvent {
  readonly event: string | null
  readonly data: string
  readonly json: unknown
}

const looksLikeEvents = /^\uFEFF?(?:data|event|id|retry)?:/

/** True for a body of server-sent events, by its content type or, where a proxy lost that, by its first field. */
export function isEventStream(contentType: string | null, text: string): boolean {
  if (contentType !== null && /^\s*text\/event-stream\b/i.test(contentType)) return true
  return looksLikeEvents.test(text)
}

/**
 * All events of a stream's joined text. The last event counts without its blank line when its data is whole: some
 * servers close right after it, and the SDKs read it too.
 */
export function readEvents(text: string): ServerEvent[] {
  const events: ServerEvent[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event: event ?? null, data, json: parseJson(data) }),
  })
  parser.feed(text)
  parser.feed('\n\n')
  return events
}
