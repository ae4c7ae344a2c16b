import { dirname, relative } from 'node:path'
import type { CellCoordinates } from '../core/campaign/identity.ts'

/** What a command needs to record a cell again, said from the working directory of this run. Plain data. */
export interface RecordCommand {
  /** Absolute working directory in which the command is to be given. */
  readonly cwd: string
  /** Up to the file: `npx vitest run --project evals`. */
  readonly start: string
  /** `-u`, or nothing where the mode has to be overridden in front. */
  readonly end: '' | '-u'
}

export interface CommandFacts {
  readonly cwd: string
  /** Absolute root of Vitest, not of the project. */
  readonly root: string
  /** Absolute path of Vitest's configuration file. */
  readonly configFile: string | undefined
  readonly projectName: string
  /** True where `-u` makes a run record: the mode is `auto`, in the options and in EVALS_MODE. */
  readonly followsSnapshots: boolean
}

/** The command's fixed part: the root, configuration and project this run was given. */
export function commandOf({ cwd, root, configFile, projectName, followsSnapshots }: CommandFacts): RecordCommand {
  const words = ['npx', 'vitest', 'run']
  const home = configFile === undefined ? root : dirname(configFile)
  // From the folder of its configuration Vitest needs to be told nothing, also where that names another root.
  if (home !== cwd && home !== root && configFile !== undefined) words.push('--config', shown(cwd, configFile))
  if (home !== cwd && root !== cwd) words.push('--root', shown(cwd, root))
  if (projectName !== '') words.push('--project', quoted(projectName))
  return {
    cwd,
    start: `${followsSnapshots ? '' : 'EVALS_MODE=record '}${words.join(' ')}`,
    end: followsSnapshots ? '-u' : '',
  }
}

/** The command that records one cell again, to be pasted as it stands. */
export function recordCell({ cwd, start, end }: RecordCommand, evalFile: string, cell: CellCoordinates): string {
  const name = `${cell.campaignId} ${cell.variantId} > ${cell.scenarioId} > seed ${cell.seed}`
  const pattern = `${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
  return [start, shown(cwd, evalFile), '-t', quoted(pattern, true), ...(end === '' ? [] : [end])].join(' ')
}

/** The command that records the cells of a file: those without a recording where the mode follows Vitest's, else all. */
export function recordFile({ cwd, start }: RecordCommand, evalFile: string): string {
  return `${start} ${shown(cwd, evalFile)}`
}

function shown(cwd: string, path: string): string {
  return quoted(relative(cwd, path).replaceAll('\\', '/') || '.')
}

/** One word of a POSIX shell. */
function quoted(word: string, always = false): string {
  return !always && /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
