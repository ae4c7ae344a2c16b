import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { systemProcesses, thisMachine } from '../../process-identity.ts'

/** Folder of a run with a file for each command that runs. */
export const RUNNING = 'running'

const RUNNING_SCHEMA = 'vitest-campaign/running@1'

/** A command that runs, as whoever finds it left over must know it: a kill of this process does not end it. */
export const RunningCommand = z.strictObject({
  schema: z.literal(RUNNING_SCHEMA),
  cellId: z.string(),
  program: z.string(),
  host: z.string(),
  bootId: z.string().nullable(),
  pidNamespace: z.string().nullable(),
  /** Null: it was about to be started. */
  pid: z.number().int().positive().nullable(),
  startToken: z.string().nullable(),
})
export type RunningCommand = z.infer<typeof RunningCommand>

/** The file of one command, from before its start until after its end. */
export interface RunningNote {
  started(pid: number): void
  over(): void
}

/**
 * Written before the command starts, and at once, in the same turn, when its number is known. Not synced: where the
 * machine goes down with what was not written yet, the command does too.
 */
export function noteRunning(runDir: string, cellId: string, program: string): RunningNote {
  const path = join(runDir, RUNNING, `${randomBytes(8).toString('hex')}.json`)
  const write = (pid: number | null, startToken: string | null): void => {
    const note: RunningCommand = { schema: RUNNING_SCHEMA, cellId, program, ...thisMachine(), pid, startToken }
    writeFileSync(`${path}.tmp`, `${JSON.stringify(note)}\n`, { flag: 'wx', mode: 0o600 })
    renameSync(`${path}.tmp`, path)
  }
  makeFolder(join(runDir, RUNNING))
  write(null, null)
  return {
    started(pid) {
      const token = systemProcesses.startToken(pid)
      write(pid, token === 'over' ? null : token)
    },
    over() {
      rmSync(path, { force: true })
    },
  }
}

/** Not with what is above it: a run folder that somebody deleted stays so. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
