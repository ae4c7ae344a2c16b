import { basename } from 'node:path'

/** Where in the eval file evalCampaign() was called. */
export interface CallSite {
  /** 1-based line of the transformed or original file, as the stack shows it; null when no frame is in the file. */
  readonly line: number | null
  /** The stack below the caller, for errors that belong to the campaign. */
  readonly stack: string
}

/**
 * Taken synchronously: after the first await the caller is off the stack.
 *
 * @param file absolute path of the eval file
 * @param below the public function the user called; frames above it are left out
 */
export function callSite(file: string | null, below: (...args: never[]) => unknown): CallSite {
  const holder: { stack?: string } = {}
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 20
  Error.captureStackTrace(holder, below)
  Error.stackTraceLimit = limit
  const frames = (holder.stack ?? '').split('\n').slice(1)
  return { line: lineIn(file, frames), stack: frames.join('\n') }
}

/** `triage.eval.ts:12`: where in the eval file an error was thrown; null where its stack does not lead there. */
export function placeIn(file: string | null, thrown: unknown): string | null {
  if (file === null || !(thrown instanceof Error) || typeof thrown.stack !== 'string') return null
  const line = lineIn(file, thrown.stack.split('\n'))
  return line === null ? null : `${basename(file)}:${line}`
}

function lineIn(file: string | null, frames: readonly string[]): number | null {
  const own = file === null ? undefined : frames.find((frame) => frame.includes(file))
  const line = own === undefined ? undefined : /:(\d+):\d+\)?$/.exec(own)?.[1]
  return line === undefined ? null : Number(line)
}
