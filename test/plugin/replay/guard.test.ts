import http2 from 'node:http2'
import net, { connect } from 'node:net'
import tls from 'node:tls'
import { fetch as undiciFetch } from 'undici'
import { expect, test } from 'vitest'
import { project, serve } from './harness.ts'

const failure = (emitter: { once(event: 'error', listener: (error: Error) => void): unknown }) =>
  new Promise<string>((resolve) => emitter.once('error', (error) => resolve(error.message)))

test('in replay every other way to the network is stopped, with the caller and the way out', async () => {
  let connections = 0
  const { url, server } = await serve((_, response) => response.end('real'))
  server.on('connection', () => connections++)
  const { hostname, port } = new URL(url)
  const { start } = project()
  const run = start('replay')
  const { value, result } = await run.cell(async () => {
    const session = http2.connect(url)
    const viaHttp2 = await failure(session)
    return [
      await failure(net.connect(Number(port), hostname)),
      await failure(connect({ port: Number(port), host: hostname })),
      await failure(tls.connect({ port: Number(port), host: hostname })),
      viaHttp2,
    ]
  })
  expect(connections).toBe(0)
  for (const message of value) {
    expect(message).toContain(`opened a connection to ${hostname}:${port}, and this run replays (the test says so)`)
  }
  expect(value[0]).toMatch(/guard\.test\.ts:\d+:\d+ opened/)
  expect(value[3]).toContain('HTTP/2 is not captured')
  expect(result.misses).toHaveLength(4)
  expect(result.misses[0]).toMatchObject({ method: 'CONNECT', url: `tcp://${hostname}:${port}`, kind: 'unknown' })
})

test('the AWS SDK is told about its HTTP/1.1 handler', async () => {
  const { start } = project()
  const run = start('replay')
  const message = await failure(net.connect(443, 'bedrock-runtime.us-east-1.amazonaws.com'))
  expect(message).toContain('NodeHttpHandler')
  expect(run.log.unattributed).toEqual(['CONNECT tcp://bedrock-runtime.us-east-1.amazonaws.com:443'])
})

test('passthrough origins, pipes and live runs are left alone', async () => {
  const { url } = await serve((_, response) => response.end('real'))
  const { start } = project()
  const run = start('replay', { passthrough: [url] })
  const text = async () => (await undiciFetch(url)).text()
  expect((await run.cell(text)).value).toBe('real')
  expect(await failure(net.connect('/nowhere/campaign.sock'))).toContain('ENOENT')
  run.end()
  const live = start('live')
  expect((await live.cell(text)).value).toBe('real')
  live.end()
  const before = net.Socket.prototype.connect
  start('replay').end()
  expect(net.Socket.prototype.connect).toBe(before)
})

test('a cell that replays in a run that may go live reaches no network either', async () => {
  const { url } = await serve((_, response) => response.end('real'))
  const { start } = project()
  const first = start('new')
  await first.cell(async () => (await fetch(url)).text(), { save: true })
  first.end()
  const second = start('new')
  const { result } = await second.cell(() => failure(connect(Number(new URL(url).port), '127.0.0.1')))
  expect(result.misses.map(({ message }) => message)).toEqual([
    expect.stringContaining('its cell replays its recording'),
  ])
})

test('a WebSocket handshake over node:http is refused in replay', async () => {
  const { url } = await serve((_, response) => response.end())
  const { start } = project()
  const run = start('replay')
  const { value, result } = await run.cell(async () => {
    const { get } = await import('node:http')
    return new Promise<number | undefined>((resolve, reject) => {
      get(url, { headers: { connection: 'Upgrade', upgrade: 'websocket' } }, (r) => resolve(r.resume().statusCode)).on(
        'error',
        reject,
      )
    })
  })
  expect(value).toBe(424)
  expect(result.misses[0]?.message).toContain('WebSocket')
})
