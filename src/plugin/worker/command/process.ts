import { type ChildProcess, spawn } from 'node:child_process'
import { TAIL_BYTES } from '../../../core/command/checkpoint.ts'
import type { Clock } from '../../replay/clock.ts'
import type { RunningNote } from './running.ts'

export interface CommandLine {
  readonly argv: readonly [program: string, ...rest: string[]]
  /** Absolute. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly stdin: string | null
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Called before it starts. */
  note(): RunningNote
}

/** How a command ended. `killed`: by a signal that was not ours. */
export type CommandEnd =
  | { readonly kind: 'exit'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'timeout'; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unstarted'; readonly message: string }

/** Between TERM and KILL, milliseconds: a test runner writes its summary. */
const GRACE_MS = 2_000

/**
 * Runs a command as the leader of a process group of its own, and ends the group with it: TERM, then KILL. It settles
 * when the command is over, not when the pipes close: a descendant that left the group may hold them for ever.
 */
export function runCommand(
  { argv, cwd, env, stdin, timeoutMs, signal, note }: CommandLine,
  clock: Pick<Clock, 'after'>,
): Promise<CommandEnd> {
  const [program, ...rest] = argv
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' })
  return new Promise((resolve) => {
    const noted = note()
    let child: ChildProcess
    try {
      child = spawn(program, rest, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    } catch (error) {
      // An argument with a null byte, or an environment that is too large.
      noted.over()
      resolve({ kind: 'unstarted', message: messageOf(error) })
      return
    }
    try {
      if (child.pid !== undefined) noted.started(child.pid)
    } catch (error) {
      // Nobody could end it after a kill of this process.
      signalGroup(child, 'SIGKILL')
      noted.over()
      resolve({ kind: 'unstarted', message: `its number could not be noted: ${messageOf(error)}` })
      return
    }
    const stdout = new Tail()
    const stderr = new Tail()
    child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk))
    child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk))
    // A command that does not read its input is no error.
    child.stdin?.on('error', () => {})
    child.stdin?.end(stdin ?? '')
    let why: 'timeout' | 'aborted' | null = null
    const timers: { readonly cancel: () => void }[] = []
    const end = (reason: 'timeout' | 'aborted'): void => {
      if (why !== null) return
      why = reason
      signalGroup(child, 'SIGTERM')
      timers.push(clock.after(GRACE_MS, () => signalGroup(child, 'SIGKILL')))
    }
    const aborted = (): void => end('aborted')
    timers.push(clock.after(timeoutMs, () => end('timeout')))
    signal.addEventListener('abort', aborted, { once: true })
    let settled = false
    const settle = (ended: CommandEnd): void => {
      if (settled) return
      settled = true
      for (const timer of timers) timer.cancel()
      signal.removeEventListener('abort', aborted)
      // What it left running in its group works for nobody now.
      signalGroup(child, 'SIGKILL')
      noted.over()
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve(ended)
    }
    const ended = (): CommandEnd => {
      const said = { stdout: stdout.text(), stderr: stderr.text() }
      if (why === 'timeout') return { kind: 'timeout', ...said }
      if (why === 'aborted') return { kind: 'aborted' }
      const { exitCode, signalCode } = child
      if (signalCode !== null) return { kind: 'killed', signal: signalCode }
      // Nothing says how it ended: that is no 0.
      if (exitCode === null) return { kind: 'unstarted', message: 'it ended without an exit code' }
      return { kind: 'exit', exitCode, ...said }
    }
    child.on('error', (error) => {
      if (child.pid === undefined) settle({ kind: 'unstarted', message: error.message })
    })
    // Closed pipes mean that all of the output is here; that is waited for a little after the exit, not longer.
    child.on('exit', () => timers.push(clock.after(PIPES_MS, () => settle(ended()))))
    child.on('close', () => settle(ended()))
  })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** How long pipes may stay open behind an exit, milliseconds. */
const PIPES_MS = 500

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone.
  }
}

/** The last bytes of a stream, beginning with a whole character. */
class Tail {
  #chunks: Buffer[] = []
  #length = 0
  #cut = false

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.byteLength
    if (this.#length > 4 * TAIL_BYTES) this.#shorten()
  }

  text(): string {
    if (this.#length > TAIL_BYTES) this.#shorten()
    const bytes = Buffer.concat(this.#chunks)
    let start = 0
    if (this.#cut) while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
    return bytes.subarray(start).toString('utf8')
  }

  #shorten(): void {
    const kept = Buffer.from(Buffer.concat(this.#chunks).subarray(-TAIL_BYTES))
    this.#chunks = [kept]
    this.#length = kept.byteLength
    this.#cut = true
  }
}
