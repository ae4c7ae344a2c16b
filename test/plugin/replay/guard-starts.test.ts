import childProcess, { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { connect } from 'node:http2'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { project } from './harness.ts'

const traffic = { timing: 'instant', recut: 'recorded', allow: [], volatile: [], rules: [], pii: false } as const
const code = 'setTimeout(() => {}, 1)'

const starts: [what: string, start: () => unknown][] = [
  ['child_process', () => spawn(process.execPath, ['-e', code])],
  ['child_process', () => childProcess.exec('true')],
  ['child_process', () => execFileSync(process.execPath, ['-e', ''])],
  ['worker_threads', () => new Worker(code, { eval: true })],
  ['dgram', () => createSocket('udp4').unref().send('x', 9, '127.0.0.1')],
]

test.each(starts)('a replayed cell starts nothing that cannot be watched: %s', async (what, begin) => {
  const { start } = project()
  const run = start('replay')
  const { result } = await run.cell(async () => {
    expect(begin).toThrow(/guard-starts\.test\.ts:\d+:\d+ .*cannot be watched, and this run replays/)
  })
  expect(result.misses).toMatchObject([
    { method: 'START', url: `node:${what}`, message: expect.stringContaining(`replay: { allow: ['${what}'] }`) },
  ])
  run.end()
  begin()
})

test('what is allowed, live, or of no cell, starts', async () => {
  const { start } = project()
  const allowing = start('replay', { traffic: { ...traffic, allow: ['child_process'] } })
  await allowing.cell(async () => execFileSync(process.execPath, ['-e', '']))
  execFileSync(process.execPath, ['-e', ''])
  allowing.end()
  const live = start('live')
  await live.cell(async () => execFileSync(process.execPath, ['-e', '']))
})

test('http2 is stopped, naming the caller and the way out', async () => {
  const { start } = project()
  const { result } = await start('replay').cell(
    () =>
      new Promise<void>((resolve) => {
        connect('http://bedrock-runtime.us-east-1.amazonaws.com').on('error', () => resolve())
      }),
  )
  expect(result.misses[0]?.message).toMatch(/guard-starts\.test\.ts:\d+.*NodeHttpHandler/)
})
