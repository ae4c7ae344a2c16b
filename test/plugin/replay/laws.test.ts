import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { project, serve } from './harness.ts'

/** One request of a generated cell: few different ones, so that most occur more than once. */
const asked = fc.record({
  path: fc.constantFrom('/v1/chat/completions', '/a', '/a?x=2&y=1'),
  body: fc.constantFrom('{"model":"m","seed":1}', '{"seed":1,"model":"m"}', '{"seed":9007199254740993}', 'plain'),
  direct: fc.boolean(),
})

/** What the server makes of a request: any status, bytes and pieces; or it hangs up. */
const answered = fc.record({
  status: fc.constantFrom(200, 201, 400, 429, 500),
  body: fc.oneof(fc.string({ unit: 'grapheme' }), fc.json()).map((text) => Buffer.from(text)),
  cut: fc.integer({ min: 1, max: 9 }),
  end: fc.constantFrom('whole', 'whole', 'whole', 'broken', 'reset'),
})

const exchanges = fc.array(fc.record({ asked, answered, together: fc.boolean() }), { minLength: 1, maxLength: 10 })

test('any sequence of exchanges, with repeats and at once, replays as it was recorded', async () => {
  let answers: (typeof answered extends fc.Arbitrary<infer T> ? T : never)[] = []
  const { url } = await serve((message, response) => {
    void buffer(message).then(async () => {
      const answer = answers.shift()
      if (answer === undefined || answer.end === 'reset') return message.socket.resetAndDestroy()
      response.writeHead(answer.status, { 'x-left': String(answers.length) }).flushHeaders()
      for (let at = 0; at < answer.body.length; at += answer.cut) {
        response.write(answer.body.subarray(at, at + answer.cut))
        await turn()
      }
      return answer.end === 'broken' ? response.destroy() : response.end()
    })
  })
  await fc.assert(
    fc.asyncProperty(exchanges, async (list) => {
      const { start } = project()
      const ask = async (cell: { readonly fetch: typeof globalThis.fetch }) => {
        const seen: Promise<unknown>[] = []
        for (const { asked: request, together } of list) {
          const send = request.direct ? cell.fetch : fetch
          const answer = send(url + request.path, { method: 'POST', body: request.body }).then(
            async (response) => [
              response.status,
              response.headers.get('x-left'),
              await response.arrayBuffer().then(
                (bytes) => Buffer.from(bytes).toString('latin1'),
                (error: Error) => error.message,
              ),
            ],
            (error: Error) => String(Reflect.get(Object(error.cause), 'code')),
          )
          seen.push(answer)
          if (!together) await answer
        }
        return Promise.all(seen)
      }
      answers = list.map(({ answered: answer }) => answer)
      const live = start('record')
      const first = await live.cell(ask, { save: true })
      live.end()
      const replaying = start('replay')
      const second = await replaying.cell(ask)
      replaying.end()
      expect(second.value).toEqual(first.value)
      expect(second.result).toMatchObject({ misses: [], unused: [], open: [] })
      expect(second.result.exchanges).toEqual(first.result.exchanges.map((one) => ({ ...one, source: 'replayed' })))
    }),
    { numRuns: 25 },
  )
})

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const word = (length: number) => fc.string({ unit: fc.constantFrom(...letters), minLength: length, maxLength: length })

/** A key whose shape gives it away, or the value of a variable that is named like one. */
const secret = fc.oneof(
  word(40).map((text) => ({ value: `sk-proj-${text}`, named: false })),
  word(32).map((text) => ({ value: `gsk_${text}`, named: false })),
  fc
    .string({ unit: fc.constantFrom(...letters, '"', '/', '\\', '+', ' ', 'é', '🙂', '&', '<'), minLength: 12 })
    // Its ends could not be told from the text around it.
    .map((text) => ({ value: `q${text.replaceAll(/\s/g, '_')}z`, named: true })),
)

/** Everything below a folder, as bytes. */
function persisted(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`)
    .join('\n')
}

/** The secret as any sink may spell it. */
const spellings = (value: string) =>
  [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), Buffer.from(value).toString('base64')].map(
    (form) => Buffer.from(form).toString('latin1'),
  )

test('a secret anywhere in a call is in no byte that is written, and in no message', async () => {
  let answer = { bytes: Buffer.alloc(0), cuts: 1, header: '' }
  const { url } = await serve((message, response) => {
    message.resume()
    void (async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-echo': encodeURIComponent(answer.header) })
      for (let at = 0; at < answer.bytes.length; at += answer.cuts) {
        response.write(answer.bytes.subarray(at, at + answer.cuts))
        await turn()
      }
      response.end()
    })()
  })
  await fc.assert(
    fc.asyncProperty(
      secret,
      fc.constantFrom('header', 'query', 'json', 'text', 'multipart', 'stream', 'echo'),
      fc.integer({ min: 1, max: 40 }),
      async ({ value, named }, place, cuts) => {
        vi.stubEnv('OF_THE_TEST_TOKEN', named ? value : '')
        const { root, start } = project()
        const say = (where: string) => (where === place ? value : 'nothing')
        const form = new FormData()
        form.set('note', `say ${say('multipart')} now`)
        const ask = async (more = '') => {
          const query = encodeURIComponent(say('query'))
          const headers = {
            'x-trace': encodeURIComponent(say('header')),
            authorization: `Bearer ${value.length}-of-it`,
          }
          const sent = [
            `${JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `my key: ${say('json')}.` }] })}${more}`,
            `remember ${say('text')} for me${more}`,
            form,
          ]
          for (const body of sent) {
            await (await fetch(`${url}/v1/chat/completions?q=${query}`, { method: 'POST', headers, body })).text()
          }
        }
        answer = {
          bytes: Buffer.from(`data: ${JSON.stringify({ text: `you said ${say('stream')}` })}\n\n`),
          ...{ cuts, header: say('echo') },
        }
        const live = start('record')
        const { result } = await live.cell(() => ask(), { save: true })
        live.end()
        const replaying = start('replay')
        const again = await replaying.cell(() => ask())
        const missed = await replaying.cell(() => ask(' changed'))
        replaying.end()
        expect(again.result.misses).toEqual([])
        expect(missed.result.misses.length).toBeGreaterThan(0)
        const written = `${persisted(root)}\n${Buffer.from(
          JSON.stringify([result, again.result, missed.result, live.log, replaying.log]),
        ).toString('latin1')}`
        for (const spelling of spellings(value)) expect(written).not.toContain(spelling)
      },
    ),
    { numRuns: 40 },
  )
  vi.unstubAllEnvs()
})
