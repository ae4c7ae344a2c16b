import { fileURLToPath } from 'node:url'

/** Where this package is loaded from, with `/`. */
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url)).replaceAll('\\', '/')

/**
 * Takes the frames of this package out of an error's stack (and its causes'): what the user reads begins and ends in
 * their own code, and equal failures of many cells have equal stacks, which Vitest prints once. An error without any
 * other frame gets the evalCampaign() call.
 *
 * @param site frames of the evalCampaign() call
 */
export function withoutOwnFrames(thrown: unknown, site: string): unknown {
  const seen = new Set<unknown>()
  for (let error = thrown; error instanceof Error && !seen.has(error); error = error.cause) {
    seen.add(error)
    const { stack } = error
    if (typeof stack !== 'string') continue
    const lines = stack.split('\n')
    const kept = lines.filter((line) => !isOwn(line))
    if (kept.length === lines.length) continue
    // By which way Node came to us differs from cell to cell.
    while (isNode(kept.at(-1))) kept.pop()
    if (!kept.some(isFrame)) kept.push(site)
    try {
      error.stack = kept.join('\n')
    } catch {
      // Frozen by the user: shown as it is.
    }
  }
  return thrown
}

/**
 * `evals/triage.eval.ts:12`: the first frame of an error below the project's root that is the user's own; null where no
 * frame is (what this package says about a value was thrown nowhere in their code).
 */
export function thrownAt(error: unknown, root: string): string | null {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return null
  const below = `${root.replaceAll('\\', '/').replace(/\/$/, '')}/`
  for (const line of error.stack.split('\n')) {
    const frame = line.replaceAll('\\', '/')
    const start = frame.indexOf(below)
    if (!isFrame(line) || isOwn(line) || start < 0 || frame.includes('/node_modules/')) continue
    return frame.slice(start + below.length).replace(/:\d+\)?$/, '')
  }
  return null
}

const isFrame = (line: string): boolean => /^\s+at .+:\d+:\d+\)?$/.test(line) && !line.includes('node:internal')

const isNode = (line: string | undefined): boolean => line !== undefined && /^\s+at (?:.+ \()?node:/.test(line)

const isOwn = (line: string): boolean => /^\s+at /.test(line) && line.replaceAll('\\', '/').includes(OWN_FOLDER)
