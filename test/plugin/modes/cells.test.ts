import { expect, test } from 'vitest'
import { decodeRecording } from '../../../src/core/traffic/format.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { recordings, timeless } from './project.ts'
import { startProvider } from './provider.ts'

test('two files at once: every call belongs to its cell, and what belongs to none is reported', async () => {
  const provider = await startProvider()
  const env = { ...provider.env, FILES: 'cells-*.eval.ts' }
  const root = await project('modes')

  const live = await runVitest(root, ['--project', 'evals'], env)
  const first = await inspectRun(root)
  const codes = (campaign: string, scenario: string) =>
    first.cell(campaign, scenario).integrity.issues.map(({ code }) => code)

  // 50 cells, each with its own question and its own tool call over a pooled client.
  expect(first.of('many').map(({ status }) => status)).toEqual(Array(50).fill('scored'))
  const files = await recordings(root)
  for (let scenario = 0; scenario < 25; scenario++) {
    for (const seed of [0, 1]) {
      const path = `__recordings__/many/plain/s${scenario}/${seed}.jsonl`
      const { exchanges } = decodeRecording(files[path] ?? '', path).value
      expect(
        exchanges.map(({ request: { body } }) => (body !== null && 'text' in body ? body.text : '')).toSorted(),
      ).toEqual([
        `{"model":"gpt-5-mini","messages":[{"role":"user","content":"one s${scenario}/${seed}"}]}`,
        `{"name":"s${scenario}/${seed}"}`,
      ])
    }
  }
  // The user's own server answered, so that nothing went out.
  expect(provider.calls.filter(({ path }) => path.includes('weather'))).toEqual([])
  expect(live.output).toContain('GET http://api.openai.com/v1/models was called outside every cell')

  expect(first.cell('tools', 'one')).toMatchObject({ status: 'scored', calls: { subject: 1, mocked: 1 } })
  expect(codes('fences', 'inside')).toEqual([])
  expect(codes('fences', 'outside')).toContain('route_not_allowed')
  expect(codes('fences', 'leak')).toContain('canary_leak')
  expect(provider.calls.filter(({ path }) => path.includes('exfiltrate'))).toEqual([])
  expect(
    provider.calls.filter(({ body }) => body.includes('late two')),
    'a late call is not sent',
  ).toEqual([])
  expect(first.derived.campaigns.get('fences')?.problems.map(({ code }) => code)).toContain('late_call')
  expect(live.code).toBe(1)

  provider.fresh()
  await runVitest(root, ['--project', 'evals'], { ...env, CI: '1' })
  expect(provider.fresh()).toEqual([])
  const second = await inspectRun(root)
  expect(second.of('many').map(timeless)).toEqual(first.of('many').map(timeless))
  expect(second.of('tools').map(timeless)).toEqual(first.of('tools').map(timeless))
})
