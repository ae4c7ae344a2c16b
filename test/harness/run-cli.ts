import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { REPOSITORY } from './run-vitest.ts'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command as a user would, in `cwd`. */
export function runCli(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  const { CI: _ci, DEBUG: _debug, VITEST: _vitest, NODE_OPTIONS: _options, ...inherited } = process.env
  const child = spawn(process.execPath, [join(REPOSITORY, 'dist/cli/main.js'), ...args], {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const read = (stream: NodeJS.ReadableStream): (() => string) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => stripVTControlCharacters(Buffer.concat(chunks).toString())
  }
  const stdout = read(child.stdout)
  const stderr = read(child.stderr)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout: stdout(), stderr: stderr() }))
  })
}
