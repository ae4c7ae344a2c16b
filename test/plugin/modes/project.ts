import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import type { VitestResult } from '../../harness/run-vitest.ts'
import { Said } from '../../harness/said.ts'

/** Texts of all recordings of a project, by path below its root. */
export async function recordings(root: string): Promise<Readonly<Record<string, string>>> {
  const files = await filesBelow(root, (path) => path.includes('__recordings__'))
  return Object.fromEntries(files.map(([path, bytes]) => [path, bytes.toString()]))
}

/** Every file a run may have written, with its bytes. */
export async function filesBelow(root: string, wanted: (path: string) => boolean): Promise<[string, Buffer][]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files: [string, Buffer][] = []
  for (const path of paths.sort()) {
    if (wanted(path)) files.push([path.slice(root.length + 1), await readFile(path)])
  }
  return files
}

/** Gives a command to a shell, as a user who pastes it. */
export function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<VitestResult> {
  const { CI: _ci, GITHUB_ACTIONS: _gha, VITEST: _vitest, NODE_OPTIONS: _options, ...inherited } = process.env
  for (const name of Object.keys(inherited)) if (/^(VITEST_|EVALS_|TINYPOOL)/.test(name)) delete inherited[name]
  const child = spawn('sh', ['-c', command], {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = new Said()
  said.listen([child.stdout, child.stderr])
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, output: stripVTControlCharacters(said.text) }))
  })
}

/** The command a miss message gives for a cell: the line that names it. */
export function commandFor(output: string, cell: string): string {
  const line = output.split('\n').find((text) => text.includes('vitest run') && text.includes(`-t '${cell}$'`))
  expect(line, `no command for ${cell} in\n${output}`).toBeDefined()
  return (line ?? '').trim()
}

/** A record without what differs between a recording run and its replay. */
export function timeless(record: RunRecord) {
  const { runId: _run, startedAt: _started, recordedAt: _recorded, queueMs: _queue, wallMs: _wall, ...rest } = record
  return { ...rest, provenance: null }
}

export const statuses = (records: readonly RunRecord[]) =>
  Object.fromEntries(records.map((record) => [`${record.variantId} ${record.scenarioId}`, record.status]))
