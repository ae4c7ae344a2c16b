import { join } from 'node:path'
import { SCRATCH, VITEST, writeFiles } from './scratch.mjs'

const FILES = {
  'vitest.config.mjs': `
import { defineConfig } from 'vitest/config'
export default defineConfig({
  test: { include: ['*.test.ts'], pool: 'threads', maxWorkers: 1, maxConcurrency: Number(process.env.IN_FLIGHT) },
})`,
  'noop.test.ts': `
import { test } from 'vitest'
for (let i = 0; i < Number(process.env.CELLS); i++) test.concurrent('t' + i, async () => {})`,
}

/** The same number of empty `test.concurrent`, in one thread as the campaign's. */
export async function plain({ cells, inFlight = cells }) {
  const cwd = join(SCRATCH, 'plain')
  await writeFiles(cwd, FILES)
  return {
    name: 'test.concurrent',
    cells,
    cwd,
    command: [process.execPath, VITEST, 'run'],
    env: { CELLS: String(cells), IN_FLIGHT: String(inFlight) },
    async check(output) {
      if (!output.includes(`${cells} passed`)) throw new Error(`not all tests passed:\n${output.slice(-1000)}`)
    },
  }
}
