import type { Finder } from './spans.ts'

const SECRET_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'set-cookie',
  'x-amz-security-token',
  'x-auth',
  'openai-organization',
  'openai-project',
  'anthropic-organization-id',
])
/** Named like a secret by the user's own gateway. */
const secretHeader =
  /(?:^|[-_])(?:api)?(?:keys?|tokens?|secrets?|passwords?|auth|authorization|credentials?|apikey)(?:$|[-_])/
/** Names with these words that hold limits, counts and cache handling. */
const plainHeader =
  /rate-?limit|token-count|tokens?-(?:limit|remaining|reset|used)|^(?:idempotency|surrogate|cache)-key$|^sec-websocket-/

/** A number too short for a secret: a count of tokens, in whatever words a gateway gives it. */
const count = /^\d{1,7}$/

/** True for a header whose value is a secret, by its name. */
export function isSecretHeader(name: string, value: string): boolean {
  const lower = name.toLowerCase()
  return SECRET_HEADERS.has(lower) || (secretHeader.test(lower) && !plainHeader.test(lower) && !count.test(value))
}

const SECRET_QUERY = new Set([
  'key',
  'apikey',
  'accesskey',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'authtoken',
  'token',
  'auth',
  'authorization',
  'sig',
  'signature',
  'secret',
  'clientsecret',
  'password',
  'subscriptionkey',
  'awsaccesskeyid',
  'xamzsignature',
  'xamzcredential',
  'xamzsecuritytoken',
  'xgoogsignature',
  'xgoogcredential',
])

/** True for a query parameter whose value is a secret, by its name; `-`, `_` and case do not matter. */
export function isSecretQuery(name: string): boolean {
  return SECRET_QUERY.has(name.replace(/[-_]/g, '').toLowerCase())
}

/** Exact names of JSON members, without `-` and `_`; `token` is apart, because logprobs use it for data. */
const MEMBERS =
  'x?api[-_]?key|password|passwd|secret|client[-_]?secret|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|session[-_]?token|bearer|bearer[-_]?token|secret[-_]?key|secret[-_]?access[-_]?key|private[-_]?key|authorization|authorization[-_]?token|proxy[-_]authorization|x[-_](?:goog[-_])?api[-_]?key'

/** The last quote may be missing: the text may be torn. A value of some other type is no secret. */
const member = new RegExp(String.raw`"(?:${MEMBERS}|(token))"\s*:\s*"([^"\\]*(?:\\[\s\S][^"\\]*)*)("|\\?$)`, 'gi')
/** One cheap look before: most bodies hold none of these names. */
const anyMember = /"(?:x[-_]|api|pass|secret|client|access|refresh|id[-_]?t|auth|session|bearer|private|proxy|token")/i

/**
 * Finds secret members in JSON text, also torn, also the JSON of server-sent events. Not in the arguments of a tool
 * call: what a model made up there is what is being measured.
 */
export const findMembers: Finder = (text, found) => {
  if (!anyMember.test(text)) return
  for (const match of text.matchAll(member)) {
    const [whole, token, value = '', closing = ''] = match
    if (value === '' || value.startsWith('[redacted:')) continue
    const after = match.index + whole.length
    if (token !== undefined && !isCredential(value, text.slice(after, after + 40))) continue
    if (isToolArgument(text, match.index)) continue
    const end = after - closing.length
    found.push({ start: end - value.length, end, rule: 'body-key' })
  }
}

/** A value of `token` that is a credential rather than a piece of text, as in the entries of logprobs. */
const isCredential = (value: string, after: string): boolean =>
  /^(?=.*\d)[A-Za-z0-9._~+/=-]{16,}$/.test(value) && !/^\s*,\s*"(?:logprob|bytes)"/.test(after)

/**
 * Whether the position lies inside the arguments of a tool call: `args` (Gemini), `arguments`, or an `input` that is
 * an object below the top (Anthropic). Reads the JSON from the beginning of its document or line.
 */
function isToolArgument(text: string, position: number): boolean {
  const line = text.lastIndexOf('\ndata:', position)
  let at = line === -1 ? 0 : line + 6
  /** Per open bracket the key under which it stands. */
  const path: (string | null)[] = []
  let key: string | null = null
  while (at < position) {
    const char = text[at]
    if (char === '"') {
      const from = at + 1
      at = from
      while (at < position && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
      // A string before a colon is a key; a value is overwritten by the next key before it can matter.
      if (/^"\s*:/.test(text.slice(at, at + 8))) key = text.slice(from, at)
    } else if (char === '{' || char === '[') {
      path.push(char === '{' ? key : key === 'input' ? null : key)
      key = null
    } else if (char === '}' || char === ']') {
      path.pop()
      key = null
    }
    at++
  }
  return path.some((name, depth) => name === 'args' || name === 'arguments' || (name === 'input' && depth > 1))
}

/** A header as it stands in raw HTTP, which clients keep in the errors they throw; in JSON its line ends are escaped. */
const headerLine =
  /(?<=^|[\r\n]|\\[rn])([A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|authorization|cookie):[ \t]*([^\s"\\][^\r\n"\\]{7,})/gi

/** Longer than most messages, in code units. */
const SHORT = 500

/**
 * Finds secrets in the header lines of raw HTTP. Names without a hyphen are words of prose, but for two.
 *
 * @param ruleOf the rule by which a header is a secret, or null
 */
export function findHeaderLines(ruleOf: (name: string, value: string) => string | null): Finder {
  return (text, found) => {
    // The line ends of HTTP are looked for first: the pattern takes longer than all others, and prose is most of what comes.
    if (text.length > SHORT && !text.includes('\r\n') && !text.includes('\\r\\n')) return
    for (const match of text.matchAll(headerLine)) {
      const [whole, name = '', value = ''] = match
      const rule = value.startsWith('[redacted:') ? null : ruleOf(name, value)
      const end = match.index + whole.length
      if (rule !== null) found.push({ start: end - value.length, end, rule })
    }
  }
}

/** Finds secret fields in forms: `client_secret=…&` of a urlencoded body. */
export const findFormFields: Finder = (text, found) => {
  let at = 0
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && isSecretQuery(pair.slice(0, equals)) && !pair.startsWith('[redacted:', equals + 1)) {
      if (equals + 1 < pair.length) found.push({ start: at + equals + 1, end: at + pair.length, rule: 'body-key' })
    }
    at += pair.length + 1
  }
}

const part = /name="([^"\r\n]+)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]+)/g

/** Finds secret fields in multipart bodies. */
export const findParts: Finder = (text, found) => {
  for (const match of text.matchAll(part)) {
    const [whole, name = '', value = ''] = match
    if (!isSecretQuery(name) || value.startsWith('[redacted:')) continue
    const end = match.index + whole.length
    found.push({ start: end - value.length, end, rule: 'body-key' })
  }
}
