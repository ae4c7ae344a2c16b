import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Said } from './said.ts'

const PROGRAM = fileURLToPath(new URL('kept-process.mjs', import.meta.url))

/** Read when a module loads, so that a process keeps what it was started with. */
const READ_ONCE = /^(CI|CONTINUOUS_INTEGRATION|GITHUB_|NODE_|NO_COLOR|FORCE_COLOR|TERM|COLORTERM|DEBUG|TZ|LANG|LC_)/

export interface KeptRun {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

interface Kept {
  readonly child: ChildProcess
  readonly like: string
  busy: boolean
}

/** Of the test file that runs here; they end with its process, which closes their channel. */
const processes = new Set<Kept>()

/**
 * Runs Vitest in a process that has run it before, if one with the same settings is free. Half of what a short run takes
 * is loading Vitest, Vite and this package. A run that ends its process is over with it, as it would be alone.
 */
export async function runKept(
  node: string,
  cli: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<KeptRun> {
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const like = JSON.stringify(
    Object.entries(given)
      .filter(([name]) => READ_ONCE.test(name))
      .sort(),
  )
  let kept = [...processes].find((one) => !one.busy && one.child.connected && one.like === like)
  if (kept === undefined) {
    const child = spawn(node, [PROGRAM, entryOf(cli), cli], { env: given, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    kept = { child, like, busy: true }
    processes.add(kept)
    const added = kept
    child.once('close', () => processes.delete(added))
    child.once('error', () => processes.delete(added))
  }
  kept.busy = true
  try {
    return await runIn(kept.child, args, given)
  } finally {
    kept.busy = false
  }
}

function runIn(child: ChildProcess, args: readonly string[], env: Readonly<Record<string, string>>): Promise<KeptRun> {
  const mark = `\0${randomUUID()}`
  const said = new Said()
  return new Promise((resolve, reject) => {
    let code: number | null = null
    const over = (end: { readonly code: number | null; readonly signal: NodeJS.Signals | null }): void => {
      stop()
      child.off('message', told).off('close', closed).off('error', reject)
      resolve({ ...end, output: said.text.replaceAll(mark, '') })
    }
    const ended = (): void => {
      if (code !== null && said.ending(mark) === 2) over({ code, signal: null })
    }
    const stop = said.listen([child.stdout, child.stderr], ended)
    const told = (message: unknown): void => {
      code = (message as { code: number }).code
      ended()
    }
    const closed = (exitCode: number | null, signal: NodeJS.Signals | null): void => over({ code: exitCode, signal })
    child.on('message', told).once('close', closed).once('error', reject)
    child.send({ args, env, mark })
  })
}

/** `vitest/node` of the installation whose command line is `cli`. */
function entryOf(cli: string): string {
  const entry = join(dirname(cli), 'dist/node.js')
  if (!existsSync(entry)) throw new Error(`${cli} has no dist/node.js beside it`)
  return entry
}
