import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../../cli/run-here.ts'
import { newestRun, project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { type Answer, completion, startProvider } from '../modes/provider.ts'
import { journalOf, newestDir } from './accounting.ts'

const json = { 'content-type': 'application/json' }
/** Of gpt-4o-mini, at 0.60 USD per million tokens: the most that an answer is taken to have which nobody bounds. */
const UNBOUNDED_ANSWER_MICRO_USD = Math.floor(16_384 * 0.6)

const answer: Answer = ({ body }, response) => {
  if (body.includes('silent of')) return true
  if (body.includes('refused of')) {
    response.writeHead(401, json).end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')
  } else response.writeHead(200, json).end(completion('gpt-4o-mini', 'an answer', 100))
  return true
}

test('what a call may have cost whose bill nobody knows stays in the budget of every run that goes on', async () => {
  const root = await project('modes')
  const provider = await startProvider(answer)
  const env = {
    ...provider.env,
    FILES: 'budget.eval.ts',
    BUDGET: JSON.stringify({
      variants: { a: { model: 'gpt-4o-mini' } },
      // The first cell holds all of the budget: that is not what its call may have cost.
      scenarios: ['silent', 'kept', 'refused'],
      budget: { usd: 0.5 },
    }),
    OPTIONS: JSON.stringify({ mode: 'live', timeout: 4_000, budget: { usd: 1 } }),
  }
  const stood: unknown[] = []
  const asked: number[] = []
  for (let run = 0; run < 3; run++) {
    const { output } = await runVitest(root, ['--project', 'evals'], env)
    expect(output).toContain('whose bill nobody knows')
    asked.push(provider.fresh().filter(({ body }) => !body.includes('refused of')).length)
    const entries = await journalOf(await newestDir(root))
    stood.push(entries.flatMap((entry) => (entry.kind === 'budget' ? [[entry.campaignId, entry.unknownMicroUsd]] : [])))
  }
  expect(asked, 'what ran is carried over').toEqual([2, 0, 0])
  const [first] = stood
  expect(first).toEqual([
    [null, expect.any(Number)],
    ['budget', expect.any(Number)],
  ])
  const unknown = (first as [null, number][])[0]?.[1]
  expect(unknown).toBeGreaterThanOrEqual(UNBOUNDED_ANSWER_MICRO_USD)
  expect(unknown).toBeLessThan(2 * UNBOUNDED_ANSWER_MICRO_USD)
  expect(stood).toEqual([first, first, first])

  // Settled where it stands, in the newest run; the first one says where that is.
  const dirs = (await readdir(join(root, '.evals'))).filter((name) => name.includes('Z-')).sort()
  const [bought = '', second = ''] = dirs
  expect((await runHere(root, ['reconcile', bought])).stdout).toContain(
    `run ${second} went on with it: \`vitest-campaign reconcile ${second}\` settles`,
  )
  const listed = await runHere(root, ['reconcile'])
  expect(listed.stdout).toMatch(
    /unknown bill of 1 cell\n {2}\w+ {2}budget > a > silent > .*bought by an earlier run, carried over/,
  )
  expect(await runHere(root, ['reconcile', '--all', '--usd', '0.25'])).toMatchObject({ code: 0 })
  expect((await runHere(root, ['reconcile'])).stdout).toContain('every bill is known')
  expect((await runHere(root, ['report'])).stdout.replace(/\s+/g, ' ')).toContain('bill of 1 cell settled')
  expect((await silent(root)).cost).toMatchObject({ usd: 0.25, provenance: 'estimated' })
  for (let run = 0; run < 2; run++) {
    await runVitest(root, ['--project', 'evals'], env)
    const entries = await journalOf(await newestDir(root))
    const budgets = entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))
    for (const { chargedMicroUsd, unknownMicroUsd } of budgets) {
      expect(unknownMicroUsd).toBe(0)
      expect(chargedMicroUsd).toBeGreaterThanOrEqual(250_000)
    }
    expect((await silent(root)).cost, 'carried on with its bill').toMatchObject({ usd: 0.25 })
  }
})

async function silent(root: string) {
  const { records } = await newestRun(root)
  const record = records.find(({ scenarioId }) => scenarioId === 'silent')
  if (record === undefined) throw new Error('no record of the cell')
  return record
}
