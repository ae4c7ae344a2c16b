import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { project, runVitest, startVitest } from '../../harness/run-vitest.ts'
import { filesBelow } from '../modes/project.ts'
import { type Answer, completion, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }
const names = (count: number) => Array.from({ length: count }, (_, i) => `case ${i}`)

/** What somebody else writes into an eval file: nothing of it may run where a run is only planned. */
const BESIDE = `
import { appendFileSync } from 'node:fs'
import { beforeAll, test } from 'vitest'
const ran = import.meta.dirname + '/ran'
beforeAll(() => appendFileSync(ran, 'hook '))
test('of somebody else', () => appendFileSync(ran, 'test '))
`
const MODEL = { model: 'gpt-4o-mini' }

test('a run says what it will take before it buys anything, and EVALS_PLAN=1 says so and runs nothing', async () => {
  const root = await project('modes')
  await writeFile(join(root, 'beside.eval.ts'), BESIDE)
  let before: string | null = null
  let printed = (): string => ''
  const answer: Answer = ({ body }, response) => {
    before ??= printed()
    response.writeHead(200, json).end(completion(JSON.parse(body).model, 'an answer', 100_000))
    return true
  }
  const provider = await startProvider(answer)
  const env = (more: object, options: object = {}): NodeJS.ProcessEnv => ({
    ...provider.env,
    FILES: '{budget,beside}.eval.ts',
    BUDGET: JSON.stringify({ variants: { a: MODEL }, scenarios: names(6), ...more }),
    OPTIONS: JSON.stringify(options),
  })
  const files = async () =>
    (await filesBelow(root, (path) => !path.includes('node_modules'))).map(([path, bytes]) => [path, bytes.length])
  const plan = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    runVitest(root, ['--project', 'evals', ...args], { ...env, EVALS_PLAN: '1' })
  /** The lines of a plan. */
  const said = (output: string): string => output.slice(output.indexOf('PLAN  ')).split(/\n\n|\n$/)[0] ?? ''

  const run = startVitest(root, ['--project', 'evals'], env({}))
  printed = run.printed
  const live = await run.done
  expect(live.code, live.output).toBe(0)
  expect(provider.fresh()).toHaveLength(6)
  expect(await readFile(join(root, 'ran'), 'utf8')).toBe('hook test ')
  const first = [
    'PLAN  evals: 1 campaign, 6 cells: 6 live',
    'CALLS  unknown; cost unknown; no budget',
    'UNKNOWN  calls, cost and time of 6 cells: variant a of budget never ran here and',
    '  has no recordings: run a few cells first (-t)',
    'POWER  no drop can be shown: it declares no gate',
  ].join('\n')
  expect(before, 'before the first request').toContain(first)

  // Twelve cells of one variant, half of them recorded, and two lanes of which one hides the other.
  const lanes = [
    { match: '*', requestsPerMinute: 2, tokensPerMinute: 1_000_000_000 },
    { match: 'openai/*', requestsPerMinute: 1 },
  ]
  const kept = await files()
  const planned = await plan(env({ seeds: 2 }, { capacity: { lanes }, budget: { usd: 0.05 } }))
  expect(planned.code, planned.output).toBe(0)
  const id = /run (\S+),/.exec(planned.output)?.[1]
  // A call is 100,000 tokens of list price 0.15 USD a million, and 3 of 0.60.
  expect(said(planned.output)).toMatch(
    new RegExp(
      [
        'PLAN  evals: 1 campaign, 12 cells: 6 live, 6 replayed',
        'CALLS  about 6; about \\$0\\.0900 \\(\\$0\\.0900 to \\$0\\.0900, as the cheapest and the',
        '  dearest cell seen\\); budget \\$0\\.0500 of the run: not enough, some cells will be',
        '  not_run',
        'TIME  at least \\S+ (s|min), bound by requests per minute of openai/gpt-4o-mini;',
        '  waits for a throttled provider come on top',
        `FROM  6 cells of run ${id}, before a campaign was changed`,
        'POWER  no drop can be shown: it declares no gate',
      ].join('\\n'),
    ),
  )
  expect(planned.output).toContain(
    'capacity.lanes[1] ("openai/*") is never used: lanes[0] ("*") comes first and takes all it matches',
  )
  for (const line of said(planned.output).split('\n')) expect(line.length).toBeLessThanOrEqual(80)

  // A part of it: nothing is decided, and so no power is said.
  const part = await plan(env({ variants: { a: MODEL, b: MODEL } }), '-t', 'b > case [0-3]', '--shard=1/2')
  expect(part.code, part.output).toBe(0)
  expect(said(part.output)).toMatch(/^PLAN {2}evals, shard 1 of 2: 1 campaign, [0-4] of 12 cells/)
  expect(said(part.output)).not.toContain('POWER')
  // A command that names no eval project buys nothing, and its plan says why.
  const unnamed = await runVitest(root, [], { ...env({ seeds: 2 }), EVALS_PLAN: '1' })
  expect(unnamed.code, unnamed.output).toBe(0)
  expect(said(unnamed.output).replaceAll(/\s+/g, ' ')).toBe(
    'PLAN evals: 1 campaign, 12 cells: 12 replayed CALLS none: nothing is bought (the command names neither the ' +
      'project nor an eval file; add --project <name> or set EVALS_MODE) POWER no drop can be shown: it declares no gate',
  )
  expect(provider.fresh()).toEqual([])
  expect(await files(), 'no run folder, and no file changed').toEqual(kept)
})
