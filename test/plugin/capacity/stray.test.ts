import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'

const MODEL = { model: 'gpt-4o-mini' }
const LANES = [
  { match: 'opnai/*', concurrency: 2 },
  { match: 'anthropic/*', concurrency: 2, equivalent: ['azure/gpt-4o-mini'] },
  { match: 'azure/*', concurrency: 2 },
  { match: 'openai/*', concurrency: 2 },
  { match: '*', concurrency: 2 },
]

test('a variable that nothing reads and a lane that matched nothing are told, each with what was meant', async () => {
  const root = await project('modes')
  await writeFile(join(root, '.env'), 'EVALS_MODE=replay\nEVALS_SHARDS=1/2\n')
  const provider = await startProvider()
  const run = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    runVitest(root, ['--project', 'evals', ...args], {
      ...provider.env,
      FILES: 'budget.eval.ts',
      BUDGET: JSON.stringify({ variants: { a: MODEL }, scenarios: ['one', 'two'] }),
      OPTIONS: JSON.stringify({ mode: 'live', capacity: { lanes: LANES } }),
      ...env,
    })
  const { output } = await run({ EVALS_BUGET_USD: '0', EVALS_PLANN: '1' })
  expect(provider.fresh(), 'it buys all the same').toHaveLength(2)
  const told = (text: string): number => output.split(text).length - 1
  expect(told('EVALS_BUGET_USD is set, and nothing reads it: did you mean EVALS_BUDGET_USD?')).toBe(1)
  expect(told('EVALS_PLANN is set, and nothing reads it: did you mean EVALS_PLAN?')).toBe(1)
  expect(told('EVALS_MODE is set in a .env file, and nothing reads it there')).toBe(1)
  expect(
    told(
      'capacity.lanes[0] ("opnai/*") matched nothing in this run, whose lanes were openai/gpt-4o-mini. Did you mean "openai/*"?',
    ),
  ).toBe(1)
  expect(told('capacity.lanes[1] ("anthropic/*") matched nothing in this run')).toBe(1)
  expect(told('matched nothing in this run'), 'an equivalent is a spare, and * misses nobody').toBe(2)

  // A part of the cells shows a part of the lanes, a replay none.
  expect((await run({}, '-t', 'one')).output).not.toContain('matched nothing')
  expect((await run({}, 'budget.eval.ts')).output).not.toContain('matched nothing')
})
