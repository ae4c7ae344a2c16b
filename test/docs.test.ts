import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { expectCleanOutput, inspectRun } from './harness/inspect.ts'
import { project, REPOSITORY, runVitest } from './harness/run-vitest.ts'
import { type Answer, completion, startProvider } from './plugin/modes/provider.ts'

/** Samples of a page that name the file they are: path → text. */
async function samples(page: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(REPOSITORY, page), 'utf8')
  const blocks = text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)
  return new Map([...blocks].map(([, path = '', body = '']) => [path, body]))
}

/** A judge of the samples likes everything. */
const judging: Answer = ({ body }, response) => {
  if (!body.includes('You are judging')) return false
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(completion('gpt-5', '{"rationale": "It is.", "pass": true}', 40))
  return true
}

/** The samples of a page as a project, run as a reader would: recorded from a provider, then replayed without it. */
async function tryOut(page: string, extra: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider(judging)
  const root = await project('docs')
  const files = { ...extra, ...Object.fromEntries(await samples(page)) }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const first = await runVitest(root, ['--project', 'evals'], provider.env)
  expect(first.code, first.output).toBe(0)
  expectCleanOutput(first.output)
  const live = await inspectRun(root)
  provider.fresh()
  const again = await runVitest(root, ['--project', 'evals'], { ...provider.env, CI: '1' })
  expect(again.code, again.output).toBe(0)
  expect(provider.fresh()).toEqual([])
  return { live, replayed: await inspectRun(root), output: first.output }
}

test('the samples of the README run as they stand there', async () => {
  const { live, replayed } = await tryOut('README.md')
  expect(live.of('triage').map(({ status, provenance }) => `${status} ${provenance}`)).toEqual(
    Array(6).fill('scored live'),
  )
  expect(replayed.of('triage').map(({ provenance }) => provenance)).toEqual(Array(6).fill('replayed'))
})

test('the samples of the authoring page run as they stand there', async () => {
  const config = 'vitest.config.ts'
  const { live } = await tryOut('docs/authoring.md', {
    [config]: (await samples('README.md')).get(config) ?? '',
  })
  expect(live.cell('agent', 'refund')).toMatchObject({ status: 'scored', score: 1, metrics: { characters: 9 } })
  expect(live.cell('agent', 'empty')).toMatchObject({ status: 'task_fail', failure: { class: 'policy_violation' } })
  expect(live.of('scorers').map(({ score }) => score)).toEqual([1, 0, 1, 0])
  expect(live.of('scorers').map(({ scores }) => [scores.stars?.value, scores.stars?.pass])).toEqual([
    [5, true],
    [2, false],
    [5, true],
    [2, false],
  ])
  expect(live.cell('judged', 'refund').scores.polite).toMatchObject({ pass: true, rationale: 'It is.' })
  expect(live.cell('code', 'add').scores.works).toMatchObject({ pass: true, role: 'command' })
  expect(live.reports.gate?.verdict.red).toBe(false)
  expect(live.reports.gate?.candidates[0]?.guardrails.map(({ name }) => name).toSorted()).toEqual([
    'brief',
    'latency',
    'passRate',
  ])
})
