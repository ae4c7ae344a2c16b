import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Where a process runs. */
export interface Machine {
  readonly host: string
  /** Of the kernel that runs it: another one after a reboot. Null where the system does not say. */
  readonly bootId: string | null
  /** Where its number counts: two containers have two processes of one number. Null where there is but one. */
  readonly pidNamespace: string | null
}

/** Who a process is: enough to tell, later, whether it is still there or its number was given to another one. */
export interface ProcessIdentity extends Machine {
  readonly pid: number
  /** When it started, in the system's own words; null where it does not say (Windows). */
  readonly startToken: string | null
}

/** What the system says of the processes it runs. */
export interface Processes {
  /** Whether a process has the number: `denied` is one of another user. */
  signal(pid: number): 'there' | 'denied' | 'gone'
  /** Null where the system does not say; `over` for one that has ended and was not waited for. */
  startToken(pid: number): string | 'over' | null
}

export const systemProcesses: Processes = {
  signal(pid) {
    try {
      process.kill(pid, 0)
      return 'there'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'denied' : 'gone'
    }
  },
  startToken(pid) {
    if (process.platform === 'darwin') return psToken(readOrNull(() => ps(pid)))
    return procToken(readOrNull(() => readFileSync(`/proc/${pid}/stat`, 'latin1')))
  },
}

function procToken(stat: string | null): string | 'over' | null {
  if (stat === null) return null
  // The name in parentheses may hold anything, parentheses too. After it: state first, start time twentieth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return 'over'
  return fields[19] ?? null
}

/** State and start of a process. Its time zone is fixed: a start must not seem to move with the user's. */
export function ps(pid: number): string {
  const env = { LC_ALL: 'C', TZ: 'UTC' }
  const args = ['-o', 'stat=,lstart=', '-p', String(pid)]
  return execFileSync('/bin/ps', args, { env, encoding: 'utf8', timeout: 5_000, stdio: ['ignore', 'pipe', 'ignore'] })
}

export function psToken(line: string | null): string | 'over' | null {
  const [state = '', ...start] = (line ?? '').trim().split(/\s+/)
  if (state === '') return null
  return state.startsWith('Z') ? 'over' : start.join(' ')
}

export function thisMachine(): Machine {
  return {
    host: hostname(),
    bootId: readOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: readOrNull(() => readlinkSync('/proc/self/ns/pid')),
  }
}

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, startToken: systemProcesses.startToken(process.pid), ...thisMachine() }
}

/** `elsewhere`: it belongs to another machine or container, and nothing can be said of it from here. */
export type Liveness = 'alive' | 'dead' | 'elsewhere'

/** Whether a process that left its identity is still there, as seen from the process `here`. */
export function livenessOf(
  other: ProcessIdentity,
  here: ProcessIdentity,
  processes: Processes = systemProcesses,
): Liveness {
  const there = placeOf(other, here)
  if (there !== 'here') return there
  if (processes.signal(other.pid) === 'gone') return 'dead'
  const token = processes.startToken(other.pid)
  if (token === 'over') return 'dead'
  // Without a start token a number that was given to another process cannot be told from its first holder.
  return token !== null && other.startToken !== null && token !== other.startToken ? 'dead' : 'alive'
}

/** Whether the processes of another machine are this one's, or ended when it was started again. */
export function placeOf(other: Machine, here: Machine): 'here' | 'dead' | 'elsewhere' {
  if (isSameMachine(other, here)) return 'here'
  return other.host === here.host && isReboot(other, here) ? 'dead' : 'elsewhere'
}

function isSameMachine(a: Machine, b: Machine): boolean {
  if (a.bootId === null || b.bootId === null) return a.bootId === b.bootId && a.host === b.host
  return a.bootId === b.bootId && a.pidNamespace === b.pidNamespace
}

/** The machine was started again since: none of its earlier processes is left. */
function isReboot(a: Machine, b: Machine): boolean {
  return a.bootId !== null && b.bootId !== null && a.bootId !== b.bootId
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
