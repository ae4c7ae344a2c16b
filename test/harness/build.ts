import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const BUILT = join(REPOSITORY, 'dist/index.js')

/** Vitest global setup: fixture projects import the built package, so it is built when the sources are newer. */
export default function build(): void {
  const sources = Math.max(newest(join(REPOSITORY, 'src')), statSync(join(REPOSITORY, 'tsconfig.build.json')).mtimeMs)
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs >= sources) return
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  })
  if (status === 0) return
  const problem = `tsc -p tsconfig.build.json ended with ${status}:\n${stdout}${stderr}`
  // Types are checked by `npm run check`; what was emitted can be tested.
  if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < sources) throw new Error(problem)
  console.warn(problem)
}

function newest(folder: string): number {
  let time = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) time = Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs)
  }
  return time
}
