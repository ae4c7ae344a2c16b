import { createRequire } from 'node:module'
import type { HttpResponse as MswResponse, RequestHandler } from 'msw'
import type { Exchange, HeaderList } from '../../core/traffic/exchange.ts'
import { type Call, responseOf } from './call.ts'
import { systemClock } from './clock.ts'
import { createPlayer, type RecordingSource } from './player.ts'
import { served } from './replay.ts'

/**
 * msw handlers that answer from a recording, for `setupServer(...replayHandlers(recording))` in ordinary tests. Each
 * recorded answer is given once; a request that is not, or no longer, in the recording is left to the handlers after
 * these and to `onUnhandledRequest`.
 *
 * @param recording a recording, or the path of its file
 * @throws RecordingError for a file that is no recording
 */
export function replayHandlers(recording: RecordingSource): RequestHandler[] {
  // msw is large, and this module is part of what every eval file imports.
  const { http, HttpResponse } = createRequire(import.meta.url)('msw') as typeof import('msw')
  const play = createPlayer(recording)
  const found = new Map<string, Exchange>()
  let ids = 0
  // One handler for all: msw copies the request for every handler it asks. The look-up is the predicate's, because msw
  // counts a request as handled, and lets it out, when a resolver answers nothing.
  return [
    http.all<{ id: string }>(
      async ({ request }) => {
        const exchange = await play(callOf(request))
        if ('miss' in exchange) return false
        const id = String(ids++)
        found.set(id, exchange)
        return { matches: true, params: { id } }
      },
      ({ request, params: { id } }) => {
        const exchange = found.get(id)
        found.delete(id)
        if (exchange === undefined) return undefined
        const answer = served(exchange, request.url, request.method, request.signal, systemClock)
        if (answer.kind === 'fault') return HttpResponse.error()
        // What the types of msw want to know about a body, nobody knows of a recorded one.
        return responseOf(answer) as MswResponse<never>
      },
    ),
  ]
}

function callOf(request: Request): Call {
  const { method, url, redirect, signal } = request
  return {
    client: 'fetch',
    method,
    url,
    headers: [...request.headers] as HeaderList,
    redirect,
    signal,
    body: async () => (request.body === null ? null : new Uint8Array(await request.clone().arrayBuffer())),
  }
}
