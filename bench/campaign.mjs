import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SCRATCH, VITEST, writeFiles } from './scratch.mjs'

const FILES = {
  'vitest.config.mjs': `
import { defineConfig } from 'vitest/config'
import { evals } from 'vitest-campaign/plugin'
export default defineConfig({
  test: { projects: [evals({ capacity: { cells: Number(process.env.IN_FLIGHT) } })] },
})`,
  'noop.eval.ts': `
import { evalCampaign } from 'vitest-campaign'
const cells = Number(process.env.CELLS)
evalCampaign('noop', {
  variants: { a: { answer: 'yes' }, b: { answer: 'no' } },
  scenarios: Array.from({ length: cells / 2 }, (_, i) => ({ id: 's' + i, expected: 'yes' })),
  capture: process.env.CAPTURE === 'off' ? 'off' : 'on',
  // These subjects call no provider, which otherwise is an error.
  integrity: { no_provider_calls: 'off' },
  run: ({ variant }) => variant.answer,
  scorers: { label: ({ output, scenario }) => output === scenario.expected },
})`,
}

/**
 * A campaign whose cells do nothing: lease, context, scorer, durable record. The journal cannot be switched off.
 *
 * @param {{ cells: number, inFlight?: number, capture: 'on' | 'off' }} options
 */
export async function campaign({ cells, inFlight = cells, capture }) {
  const cwd = join(SCRATCH, 'campaign')
  await writeFiles(cwd, FILES)
  return {
    name: `campaign, capture ${capture}`,
    cells,
    cwd,
    command: [process.execPath, VITEST, 'run', '--project', 'evals'],
    env: { CELLS: String(cells), IN_FLIGHT: String(inFlight), CAPTURE: capture },
    prepare: () => rm(join(cwd, '.evals'), { recursive: true, force: true }),
    async check() {
      const run = (await readFile(join(cwd, '.evals/latest'), 'utf8')).trim()
      const records = await readFile(join(cwd, '.evals', run, 'records.jsonl'), 'utf8')
      const scored = records.split('"status":"scored"').length - 1
      if (scored !== cells) throw new Error(`${scored} of ${cells} cells were scored`)
    },
  }
}
