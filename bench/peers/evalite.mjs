/** All cells in flight; results go to its database, as always. */
export const evalite = {
  name: 'evalite',
  packages: ['evalite@0.19.0', 'vitest@4.1.12'],
  files: {
    'evalite.config.mjs': 'export default { maxConcurrency: 1_000_000, testTimeout: 3_600_000, hideTable: true }',
    'noop.eval.ts': `
import { evalite } from 'evalite'
evalite('noop', {
  data: Array.from({ length: Number(process.env.CELLS) }, (_, i) => ({ input: 's' + i, expected: 'yes' })),
  task: async () => 'yes',
  scorers: [{ name: 'label', scorer: ({ output, expected }) => (output === expected ? 1 : 0) }],
})`,
  },
  command: ['node_modules/evalite/dist/bin.js', 'run'],
  leftovers: ['node_modules/.evalite'],
  passed: (cells) => `Evals  ${cells}`,
}
