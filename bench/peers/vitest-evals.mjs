/** One Vitest test per cell, in one thread, all in flight; its own reporter. */
export const vitestEvals = {
  name: 'vitest-evals',
  packages: ['vitest-evals@0.16.1', 'vitest@4.1.12', 'ai@6', 'zod@4', 'tinyrainbow@3'],
  files: {
    'vitest.config.mjs': `
import { defineConfig } from 'vitest/config'
export default defineConfig({
  test: {
    include: ['*.eval.test.mjs'],
    pool: 'threads',
    maxWorkers: 1,
    maxConcurrency: 1_000_000,
    testTimeout: 0,
    reporters: ['vitest-evals/reporter'],
  },
})`,
    'noop.eval.test.mjs': `
import { createHarness, describeEval } from 'vitest-evals'
const rows = Array.from({ length: Number(process.env.CELLS) }, (_, i) => ({ name: 's' + i, input: 's' + i }))
const harness = createHarness({
  name: 'noop',
  run: async () => ({ output: 'yes', messages: [{ role: 'assistant', content: 'yes' }] }),
})
const label = { name: 'label', assess: async ({ output }) => ({ score: output === 'yes' ? 1 : 0 }) }
describeEval('noop', { harness, judges: [label], judgeThreshold: 1 }, (it) => {
  it.concurrent.for(rows)('$name', async ({ input }, { run }) => {
    await run(input)
  })
})`,
  },
  command: ['node_modules/vitest/vitest.mjs', 'run'],
  passed: (cells) => `${cells} passed`,
}
