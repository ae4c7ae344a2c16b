import type { Answer, AnsweredResponse, Call } from './call.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** The limit of the fetch standard. */
const MAX_HOPS = 20
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
])
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'host',
  'x-api-key',
])

/**
 * Follows redirects for clients that ask for it (fetch), by the rules of the fetch standard; every hop is a call, and an
 * exchange, of its own. The body of the call must be readable more than once.
 */
export async function followRedirects(
  call: Call,
  first: Promise<Answer>,
  send: (hop: Call) => Promise<Answer>,
): Promise<Answer> {
  let hop = call
  let answer = await first
  for (let hops = 0; ; ) {
    if (answer.kind === 'fault' || call.redirect === 'manual' || !REDIRECTS.has(answer.status)) break
    const location = answer.headers.find(([name]) => name === 'location')?.[1]
    if (location === undefined) break
    await drain(answer)
    if (call.redirect === 'error') return { kind: 'fault', error: new Error('unexpected redirect') }
    const url = URL.canParse(location, hop.url) ? new URL(location, hop.url) : null
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return { kind: 'fault', error: new Error(`the redirect to ${JSON.stringify(location)} leads to no HTTP address`) }
    }
    if (++hops > MAX_HOPS) return { kind: 'fault', error: new Error('redirect count exceeded') }
    hop = nextHop(hop, answer.status, url)
    answer = await send(hop)
    if (answer.kind === 'response') answer = { ...answer, redirected: true, url: hop.url }
  }
  return answer
}

function nextHop(call: Call, status: number, url: URL): Call {
  const becomesGet =
    ((status === 301 || status === 302) && call.method === 'POST') ||
    (status === 303 && call.method !== 'GET' && call.method !== 'HEAD')
  const strange = new URL(call.url).origin !== url.origin
  return {
    ...call,
    url: url.href,
    method: becomesGet ? 'GET' : call.method,
    headers: call.headers.filter(
      ([name]) => !(becomesGet && BODY_HEADERS.has(name)) && !(strange && CREDENTIALS.has(name)),
    ),
    body: becomesGet ? async () => null : call.body,
  }
}

/** Read rather than cancelled: a cancelled body would be recorded as one that the client gave up. */
async function drain({ body }: AnsweredResponse): Promise<void> {
  const reader = body?.getReader()
  try {
    while (reader !== undefined && !(await reader.read()).done);
  } catch {
    // A redirect whose body breaks still redirects.
  }
}
