import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CellCoordinates } from '../../core/campaign/identity.ts'

/** Vitest loads every eval file to know its cells; this long is no collection any more. */
const DEADLINE_MS = 120_000

/** The cells that the eval files of a project name today. */
export interface Planned {
  /** Whether an eval file of this folder has the cell. */
  has(folder: string, cell: CellCoordinates): boolean
}

/**
 * Asks the project's own Vitest which cells its eval files have; nothing is run.
 *
 * @throws Error when they cannot be collected, with Vitest's last words
 */
export async function plannedCells(root: string, env: Readonly<Record<string, string | undefined>>): Promise<Planned> {
  const require = createRequire(pathToFileURL(join(root, 'package.json')))
  const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs')
  const scratch = await mkdtemp(join(tmpdir(), 'vitest-campaign-'))
  try {
    const file = join(scratch, 'list.json')
    await collect([vitest, 'list', `--json=${file}`, '--root', root], root, env)
    const tests = JSON.parse(await readFile(file, 'utf8')) as readonly {
      readonly name: string
      readonly file: string
    }[]
    const cells = tests.filter(({ name }) => / > seed -?\d+$/.test(name))
    if (cells.length === 0) throw new Error('vitest list names no cell of any campaign')
    // Vitest may name a folder by another of its names.
    const names = new Set(cells.map(({ name, file: at }) => `${realpathSync(dirname(at))}\0${name}`))
    return {
      has: (folder, { campaignId, variantId, scenarioId, seed }) =>
        names.has(`${realpathSync(folder)}\0${campaignId} > ${variantId} > ${scenarioId} > seed ${seed}`),
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function collect(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { EVALS_REPLAY: _, ...rest } = env
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...rest, EVALS_MODE: 'replay', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let words = ''
    const listen = (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-4000)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) return resolve()
      const how = signal === null ? `ended with ${code}` : `took longer than ${DEADLINE_MS / 1000} s`
      reject(new Error(`vitest list ${how}, so the cells of the eval files are not known:\n${words.trim()}`))
    })
  })
}
