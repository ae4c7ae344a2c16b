import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { CellCoordinates } from '../../core/campaign/identity.ts'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { RECORDINGS, recordingPath } from '../replay/path.ts'

const execute = promisify(execFile)

/** Recordings that differ from where the branch left the main line. */
export interface ChangedRecordings {
  /** What they were compared with, for people. */
  readonly since: string
  /** @param path absolute */
  has(path: string): boolean
}

/** Where a branch may have left: the pull request's target first, then the usual names of the main line. */
function mainLines(env: Readonly<Record<string, string | undefined>>): string[] {
  const target = env.GITHUB_BASE_REF ?? ''
  return [
    ...(target === '' ? [] : [`origin/${target}`]),
    'origin/HEAD',
    'origin/main',
    'origin/master',
    'main',
    'master',
  ]
}

/** Null outside a git repository, and where nothing says what the change is. */
export async function changedRecordings(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChangedRecordings | null> {
  const git = async (...args: string[]): Promise<string> =>
    (await execute('git', args, { cwd: root, timeout: 5_000, maxBuffer: 64 * 1024 * 1024 })).stdout
  try {
    const top = (await git('rev-parse', '--show-toplevel')).trim()
    const base = await baseOf(git, mainLines(env))
    if (base === null) return null
    const only = ['--', `:(top,glob)**/${RECORDINGS}/**`]
    const [changed, fresh] = await Promise.all([
      git('diff', '--name-only', '-z', base.sha, ...only),
      git('ls-files', '--others', '--exclude-standard', '--full-name', '-z', ...only),
    ])
    const paths = new Set(`${changed}\0${fresh}`.split('\0').filter((path) => path !== ''))
    const here = realpathSync(root)
    return {
      since: base.name,
      has: (path) => paths.has(relative(top, join(here, relative(root, path))).replaceAll('\\', '/')),
    }
  } catch {
    // No git, no repository or no commit yet: unknown, and not an error of the run.
    return null
  }
}

async function baseOf(
  git: (...args: string[]) => Promise<string>,
  names: readonly string[],
): Promise<{ readonly sha: string; readonly name: string } | null> {
  const resolved = async (...args: string[]) => (await git(...args).catch(() => '')).trim()
  const head = await resolved('rev-parse', 'HEAD')
  for (const name of names) {
    const sha = await resolved('merge-base', 'HEAD', name)
    if (sha !== '' && sha !== head) return { sha, name: `${sha.slice(0, 7)}, where this branch left ${name}` }
    // On the main line itself the change is its last commit.
    if (sha === head) break
  }
  const before = await resolved('rev-parse', '--verify', '--quiet', 'HEAD^')
  return before === '' ? null : { sha: before, name: `${before.slice(0, 7)}, the commit before` }
}

/** Code of the finding that cells replay what this change recorded. */
export const SELF_RECORDED = 'self_recorded'

/** How many of the cells that were replayed replayed what the change under test recorded itself; null: none. */
export function selfRecorded(
  { campaignId, file }: CampaignPlan,
  replayed: Iterable<CellCoordinates>,
  root: string,
  changed: ChangedRecordings,
): string | null {
  let all = 0
  let own = 0
  for (const { variantId, scenarioId, seed } of replayed) {
    all++
    if (changed.has(recordingPath(resolve(root, file), { campaignId, variantId, scenarioId, seed }))) own++
  }
  if (own === 0) return null
  return (
    `${own} of ${all} replayed ${all === 1 ? 'cell' : 'cells'} ${own === 1 ? 'has a recording' : 'have recordings'} that changed since ${changed.since}: ` +
    'evidence that the change under test recorded itself. Review those files as you review its code'
  )
}
