import { expect, test } from 'vitest'
import { createRedactor } from '../../../src/core/traffic/redact.ts'
import { redactedError } from '../../../src/plugin/worker/redacted-error.ts'

const redactor = createRedactor({ env: {} })
const secret = 'of-my-gateway-42'
const clean = (thrown: unknown) => redactedError(thrown, redactor)

test('what holds no secret is the thing itself', () => {
  const error = Object.assign(new Error('no', { cause: new Error('why') }), { status: 400, list: [1, { a: 'b' }] })
  expect(clean(error)).toBe(error)
})

test('colours of a compiler are left out, and every other control character is shown', () => {
  const { message, stack } = clean(new Error('\x1b[31m[PARSE_ERROR]\x1b[0m Expected `}`\x1b[2J')) as Error
  expect(message).toBe('[PARSE_ERROR] Expected `}`\\x1b[2J')
  expect(stack).toContain('[PARSE_ERROR] Expected')
})

test('members of a request are redacted by name, as header, as body and in raw HTTP', () => {
  const error = Object.assign(new Error('400'), {
    config: { headers: { 'x-my-auth': secret }, data: JSON.stringify({ password: secret }) },
    request: { auth: `user:${secret}`, _header: `POST / HTTP/1.1\r\nx-api-key: ${secret}\r\nhost: a.example\r\n\r\n` },
  })
  const shown = clean(error) as typeof error
  expect(JSON.stringify(shown)).not.toContain(secret)
  expect(shown.request._header).toBe(
    'POST / HTTP/1.1\\x0d\nx-api-key: [redacted:header]\\x0d\nhost: a.example\\x0d\n\\x0d\n',
  )
  expect(error.config.headers['x-my-auth']).toBe(secret)
})

test('causes are looked at as deep as they go, and what is deeper than anybody reads is left out', () => {
  const chain = (length: number) => {
    let error = new Error('root', { cause: { apiKey: secret } })
    for (let n = 0; n < length; n++) error = new Error(`step ${n}`, { cause: error })
    return error
  }
  let at: unknown = clean(chain(20))
  while (at instanceof Error) at = at.cause
  expect(at).toEqual({ apiKey: '[redacted:body-key]' })
  at = clean(chain(20_000))
  while (at instanceof Error) at = at.cause
  expect(at).toBe('[…]')
})

test('an error that is its own cause ends, and a web of objects is walked once', () => {
  const own = new Error('own')
  own.cause = own
  expect((clean(own) as Error).cause).toBe('[…]')
  // As sockets and requests are: each knows all others. Path by path this would take for ever.
  const web = Array.from({ length: 300 }, (): Record<string, unknown> => ({}))
  for (const node of web) for (const [n, other] of web.entries()) node[`to${n}`] = other
  const [first] = web
  Object.assign(web[299] ?? {}, { apiKey: secret })
  const shown = clean(Object.assign(new Error('web'), { first })) as { first: Record<string, Record<string, unknown>> }
  expect(shown.first.to299?.apiKey).toBe('[redacted:body-key]')
  expect(shown.first.to0).toBe(shown.first)
})
