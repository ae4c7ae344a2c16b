import { expect, test } from 'vitest'
import { project, runVitest } from '../../harness/run-vitest.ts'
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
    OPTIONS: JSON.stringify({ mode: 'live', timeout: 1_000, budget: { usd: 1 } }),
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
}, 90_000)
