import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const exec = promisify(execFile)
export const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Inside the repository, so that the package's dependencies are found up the tree. */
export const SCRATCH = join(ROOT, 'test/.scratch/bench')
export const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

/** Builds, packs and unpacks the package, so that it is loaded from node_modules as a user's would be. */
export async function installPackage() {
  await rm(SCRATCH, { recursive: true, force: true })
  const home = join(SCRATCH, 'node_modules/vitest-campaign')
  await mkdir(home, { recursive: true })
  // Another name than the package's own, whose self-reference would win over node_modules.
  await writeFiles(SCRATCH, { 'package.json': '{ "name": "bench", "private": true, "type": "module" }' })
  await exec('npm', ['run', 'build'], { cwd: ROOT })
  await exec('npm', ['pack', '--ignore-scripts', '--pack-destination', SCRATCH], { cwd: ROOT })
  const tarball = (await readdir(SCRATCH)).find((name) => name.endsWith('.tgz'))
  await exec('tar', ['xzf', join(SCRATCH, tarball), '-C', home, '--strip-components=1'])
}

/** @param {Record<string, string>} files by path in the folder */
export async function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}
