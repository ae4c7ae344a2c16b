import { expect, test } from 'vitest'
import { FAULT_ATTEMPTS } from '../../../src/core/capacity/retry.ts'
import { project, serve } from './harness.ts'

const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] })
const post = (url: string) => fetch(`${url}/v1/chat/completions`, { method: 'POST', body })

test('a provider that says nothing is given up, made again, and told of with its cell and lane', async () => {
  let asked = 0
  const { url } = await serve(() => asked++)
  const running = project().start('live', { stallTimeoutMs: 60 })
  const { value, result } = await running.cell(() => post(url).catch((error: Error) => error))
  expect(value).toBeInstanceOf(TypeError)
  const told =
    /^no byte came for 0.06 s \(stallTimeout\): the request of cell current > refund > seed 0 in lane \S+\/gpt-5-mini was ended$/
  expect(((value as Error).cause as Error).message).toMatch(told)
  expect(asked).toBe(FAULT_ATTEMPTS)
  expect(result.exchanges).toMatchObject([{ outcome: { kind: 'fault', code: 'ETIMEDOUT', phase: 'headers' } }])
  expect(running.log.outcomes.map(({ result: { kind } }) => kind)).toEqual(Array(FAULT_ATTEMPTS).fill('fault'))
})

test('a stream that stops is broken off; one that trickles, or whose client is slow, is not', async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"model":"gpt-5-mini","choices":[]}\n\n')
    if (request.headers['x-kind'] === 'stops') return
    // More than is read ahead of the client.
    if (request.headers['x-kind'] === 'slow reader') return response.end(`: ${'x'.repeat(2_000_000)}\n\n`)
    let left = 12
    const timer = setInterval(() => {
      response.write(': \n\n')
      if (left-- > 0) return
      clearInterval(timer)
      response.end()
    }, 100)
  })
  const running = project().start('live', { stallTimeoutMs: 800 })
  const ask = (kind: string) =>
    running.cell(async () => {
      const init = { method: 'POST', body: JSON.stringify({ ...JSON.parse(body), stream: true }) }
      const answer = await fetch(`${url}/v1/chat/completions`, { ...init, headers: { 'x-kind': kind } })
      if (kind === 'slow reader') await new Promise((resolve) => setTimeout(resolve, 1_600))
      return answer.text().catch((error: Error) => String((error.cause as Error).message))
    })
  expect((await ask('stops')).value).toMatch(/^no byte came for 0.8 s/)
  expect((await ask('trickles')).value).toMatch(/^data: .*(: \s+){12}/s)
  expect((await ask('slow reader')).value.length).toBeGreaterThan(2_000_000)
})

test('an attempt is never longer than the whole deadline of its cell, though that stands still', async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const timer = setInterval(() => response.write(': \n\n'), 20)
    response.once('close', () => clearInterval(timer))
  })
  const running = project().start('live')
  const { value } = await running.cell(
    async () => (await post(url)).text().catch((error: Error) => (error.cause as Error).message),
    { timeoutMs: 300 },
  )
  expect(value).toMatch(/^the request of cell .* was still under way after 0.3 s, the whole deadline of its cell$/)
})
