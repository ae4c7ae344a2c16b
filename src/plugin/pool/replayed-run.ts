import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { evalsVariable } from '../env.ts'

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/**
 * The folder of the run whose raw capture `EVALS_REPLAY` asks for; null where it is not set.
 *
 * @param id the value of EVALS_REPLAY: a run's id, or `latest`
 * @throws TypeError where there is no such run, naming where it was looked for
 */
export function replayedRun(root: string, env: Readonly<Record<string, string | undefined>>): string | null {
  const id = evalsVariable('EVALS_REPLAY', env) ?? ''
  const mode = evalsVariable('EVALS_MODE', env) ?? ''
  if (id === '') return null
  if (mode !== '' && mode !== 'replay' && mode !== 'auto') {
    throw new TypeError(`EVALS_REPLAY=${id} and EVALS_MODE=${mode} contradict each other; unset one of them`)
  }
  if (!RUN_ID.test(id)) throw new TypeError(`EVALS_REPLAY=${JSON.stringify(id)} is no id of a run`)
  const runs = join(root, '.evals')
  const name = id === 'latest' ? newest(runs) : id
  const folder = join(runs, name)
  for (const path of [runs, folder]) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() !== true) {
      throw new TypeError(
        `EVALS_REPLAY=${id}: there is no run ${folder}; the ids are the names of the folders in ${runs}`,
      )
    }
  }
  return folder
}

function newest(runs: string): string {
  try {
    const name = readFileSync(join(runs, 'latest'), 'utf8').trim()
    if (RUN_ID.test(name)) return name
  } catch {
    // Said below, with what to do.
  }
  throw new TypeError(`EVALS_REPLAY=latest: ${runs} names no newest run`)
}
