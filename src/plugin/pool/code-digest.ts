import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { glob } from 'tinyglobby'
import type { TestProject } from 'vitest/node'
import { type Digest, digestOf, sha256Hex } from '../../core/campaign/identity.ts'

/** Where the modules of an eval file are looked up. */
export interface ModuleSource {
  readonly root: string
  /** Absolute files of the eval file and of every project module it imports, dynamic imports included. */
  filesOf(evalFile: string): Promise<readonly string[]>
}

/** The code behind a campaign. */
export interface CodeDigest {
  readonly digest: Digest
  /** SHA-256 of each file, by its path below the project. */
  readonly files: Readonly<Record<string, string>>
}

const LOCKFILES = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb']
// This package itself: linked into a project it is no module of the project.
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Digest of the code behind a campaign: the source bytes of the eval file and of every project module it imports, the
 * lockfile, and the files its `digest.files` globs name. Identity by content, never by difference from a commit.
 *
 * @param file eval file, relative to the root
 */
export async function codeDigest(source: ModuleSource, file: string, globs: readonly string[]): Promise<CodeDigest> {
  const named = globs.length === 0 ? [] : await glob([...globs], { cwd: source.root, absolute: true, dot: true })
  const files = new Set([...(await source.filesOf(join(source.root, file))), ...named])
  const lockfile = await nearestLockfile(source.root)
  if (lockfile !== null) files.add(lockfile)
  const digests: Record<string, string> = {}
  await Promise.all(
    [...files].map(async (path) => {
      digests[relative(source.root, path).split(sep).join('/')] = sha256Hex(await readFile(path))
    }),
  )
  return { digest: digestOf(digests, 'code'), files: digests }
}

async function nearestLockfile(root: string): Promise<string | null> {
  for (let folder = root; ; folder = dirname(folder)) {
    for (const name of LOCKFILES) {
      const path = join(folder, name)
      try {
        await readFile(path)
        return path
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    if (dirname(folder) === folder) return null
  }
}

/** The modules of a Vitest project, out of Vite's graph: what a file imports is known once a worker has loaded it. */
export function viteModules(project: TestProject): ModuleSource {
  const environment = project.vite.environments.ssr
  return {
    root: project.config.root,
    async filesOf(evalFile) {
      const files = new Set<string>()
      const seen = new Set<unknown>()
      const visit = async (module: {
        file: string | null
        url: string
        importedModules: Set<never>
      }): Promise<void> => {
        if (seen.has(module)) return
        seen.add(module)
        if (!isProjectFile(module.file)) return
        files.add(module.file)
        // A dynamic import has no children in the graph until it is executed; transforming it finds them.
        if (module.importedModules.size === 0) await environment.transformRequest(module.url).catch(() => null)
        for (const child of module.importedModules) await visit(child)
      }
      for (const module of environment.moduleGraph.getModulesByFile(evalFile.split(sep).join('/')) ?? []) {
        await visit(module as never)
      }
      files.add(evalFile)
      return [...files]
    },
  }
}

function isProjectFile(file: string | null): file is string {
  if (file === null || file.includes('\0') || file.includes('/node_modules/')) return false
  return file.startsWith('/') || /^[A-Za-z]:\//.test(file) ? !file.startsWith(OWN_FOLDER) : false
}
