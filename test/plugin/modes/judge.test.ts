import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { recordings, statuses, timeless } from './project.ts'
import { completion, startProvider } from './provider.ts'

const json = { 'content-type': 'application/json', 'x-should-retry': 'false' }
const verdict = '{"rationale": "Polite enough.", "pass": true}'

test('a judge is asked blind, once more where it must, and judges for free from the recording', async () => {
  const provider = await startProvider(({ body }, response) => {
    const { model } = JSON.parse(body) as { model: string }
    if (model !== 'gpt-5') return false
    if (body.includes('that is down')) response.writeHead(400, json).end('{"error":{"message":"no such thing"}}')
    else {
      const again = body.includes('Your previous answer could not be used: it holds no JSON object')
      const silent = body.includes('that is mute') || (body.includes('that is vague') && !again)
      response.writeHead(200, json).end(completion('gpt-5', silent ? 'It is quite nice.' : verdict, 50))
    }
    return true
  })
  const root = await project('modes')
  const env = { ...provider.env, FILES: 'judge.eval.ts' }
  await runVitest(root, ['--project', 'evals'], env)
  const live = await inspectRun(root)
  expect(statuses(live.records)).toEqual(
    Object.fromEntries(
      ['variant-one', 'variant-two'].flatMap((variant) => [
        [`${variant} good`, 'scored'],
        [`${variant} vague`, 'scored'],
        [`${variant} mute`, 'judge_error'],
        [`${variant} down`, 'judge_error'],
      ]),
    ),
  )
  const one = (id: string) => live.records.find((r) => r.variantId === 'variant-one' && r.scenarioId === id)
  expect(one('good')?.scores.tone).toEqual({ value: 1, pass: true, role: 'judge', rationale: 'Polite enough.' })
  expect(one('good')?.calls).toMatchObject({ subject: 1, judge: 1 })
  expect(one('vague')?.calls).toMatchObject({ subject: 1, judge: 2 })
  expect(one('mute')?.scores.tone?.error).toMatch(/no usable verdict, asked twice: .*no JSON object.*quite nice/)
  expect(one('mute')?.calls).toMatchObject({ subject: 1, judge: 2 })
  expect(one('good')?.judges.tone).toMatchObject({ model: 'gpt-5' })
  expect(one('good')?.cost.judgeUsd).toBeGreaterThan(0)
  expect(one('good')?.integrity.issues.map(({ code }) => code)).toContain('judge_same_model')
  const asked = provider.calls.filter(({ body }) => body.includes('You are judging'))
  expect(asked.length).toBeGreaterThanOrEqual(12)
  for (const { body } of asked) expect(body).not.toContain('variant-')
  expect(Object.keys(await recordings(root))).toContain('__recordings__/judged/variant-one/vague/0.jsonl')

  provider.fresh()
  await runVitest(root, ['--project', 'evals', '-t', 'good|vague'], { ...env, CI: '1' })
  expect(provider.fresh()).toEqual([])
  const replayed = (await inspectRun(root)).records
  expect(replayed).toHaveLength(4)
  for (const record of replayed) {
    const original = live.records.find(({ cellId }) => cellId === record.cellId)
    expect(timeless(record)).toEqual({ ...(original && timeless(original)), provenance: null })
  }
})
