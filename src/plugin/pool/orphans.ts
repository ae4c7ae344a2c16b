import { constants } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Processes, placeOf, systemProcesses, thisMachine, thisProcess } from '../process-identity.ts'
import { SCRATCH } from '../worker/command/place.ts'
import { RUNNING, RunningCommand } from '../worker/command/running.ts'
import { ownerState } from './owner.ts'
import { RUNS } from './run-folder.ts'

/** Most that the file of a running command may be, bytes. */
const NOTE_BYTES = 64 * 1024
/** Between TERM and KILL, and what the system gets to end what was killed, milliseconds. */
const GRACE_MS = 2_000
const POLL_MS = 25

/** A command that its run left running. */
export interface Orphan {
  readonly note: RunningCommand
  readonly became:
    | 'ended'
    /** It did not end, or belongs to another user. */
    | 'stays'
    /** Nothing tells it from another process: it was about to start, or the system has no start times. */
    | 'unknown'
}

/**
 * Ends what commands of runs that are dead left running. A process is ended only where its number and its start are
 * those that its run wrote down: a number that was given to another process is left alone.
 *
 * @returns in words, what was found
 */
export async function reapOrphans(root: string, processes: Processes = systemProcesses): Promise<readonly string[]> {
  const runs = join(root, RUNS)
  const names = (await entriesOf(runs)).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const said = await Promise.all(
    names.map((runId) =>
      reapOf(join(runs, runId), runId, processes).catch((error: unknown) => [
        `what commands run ${runId} left running is not known: ${error instanceof Error ? error.message : String(error)}`,
      ]),
    ),
  )
  return said.flat()
}

async function reapOf(dir: string, runId: string, processes: Processes): Promise<readonly string[]> {
  if ((await entriesOf(join(dir, RUNNING))).length === 0) return []
  const { held } = await ownerState({ dir, here: thisProcess(), now: () => new Date(), processes })
  if (held !== 'free') return []
  const ended = await endCommands(dir, () => true, processes)
  // The files that its commands were given.
  await rm(join(dir, SCRATCH), { recursive: true, force: true })
  return ended.map((orphan) => orphanText(orphan, runId))
}

/** Ends the commands of a run's cells that are running, and takes note of it. Call it when nobody waits for them. */
export async function endCommands(
  dir: string,
  isOf: (cellId: string) => boolean,
  processes: Processes = systemProcesses,
): Promise<readonly Orphan[]> {
  const folder = join(dir, RUNNING)
  const found: Orphan[] = []
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    const note = entry.isFile() ? await readNote(path) : null
    if (note === null || !isOf(note.cellId)) continue
    const became = await end(note, processes)
    if (became === 'elsewhere') continue
    // One that stays is looked at once more by the next run.
    await rm(path, { force: true }).catch(() => {})
    if (became !== 'gone') found.push({ note, became })
  }
  return found
}

async function end(note: RunningCommand, processes: Processes): Promise<Orphan['became'] | 'gone' | 'elsewhere'> {
  const place = placeOf(note, thisMachine())
  if (place !== 'here') return place === 'dead' ? 'gone' : 'elsewhere'
  const { pid, startToken } = note
  if (pid === null) return 'unknown'
  if (startToken === null) return processes.signal(pid) === 'gone' ? 'gone' : 'unknown'
  const isOurs = (): boolean => processes.startToken(pid) === startToken
  if (!isOurs()) return 'gone'
  signalGroup(pid, 'SIGTERM')
  if (await groupEnds(pid)) return 'ended'
  // While one of the group is left no other process is given its number: only a leader may be another one.
  const leader = processes.startToken(pid)
  if (leader === null || leader === 'over' || leader === startToken) signalGroup(pid, 'SIGKILL')
  return (await groupEnds(pid)) ? 'ended' : 'stays'
}

async function groupEnds(pid: number): Promise<boolean> {
  for (let waited = 0; ; waited += POLL_MS) {
    if (!signalGroup(pid, 0)) return true
    if (waited >= GRACE_MS) return false
    await sleep(POLL_MS)
  }
}

/** False where the group has nobody left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function orphanText({ note, became }: Orphan, runId: string): string {
  const { program, pid, cellId } = note
  const what = `${JSON.stringify(program)}, a command that run ${runId} left running for cell ${cellId}`
  switch (became) {
    case 'ended':
      return `ended ${what} (process ${pid})`
    case 'stays':
      return `could not end ${what}: end process ${pid} and its group yourself`
    case 'unknown':
      return pid === null
        ? `${what}, may still run: it was about to start when its run was killed`
        : `${what}, may still run as process ${pid}: this system does not say whether that is still the same process`
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    // There is none, or it is no folder of ours: nothing is known to run.
    return []
  }
}

/** Null where it is gone, or not what a run writes. */
async function readNote(path: string): Promise<RunningCommand | null> {
  if (!path.endsWith('.json')) return null
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      if ((await file.stat()).size > NOTE_BYTES) return null
      return RunningCommand.parse(JSON.parse(await file.readFile('utf8')))
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}
