import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type CliContext, CliError } from './command.ts'
import { realPath, shown } from './project.ts'

/** A run on disk. */
export interface FoundRun {
  readonly runId: string
  readonly dir: string
  readonly journal: string
  /** Root of the project that ran: the folder above `.evals`. */
  readonly root: string
}

const RUNS = '.evals'
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/**
 * The run that the user means: an id below `.evals`, a folder, or without either the newest.
 *
 * @throws CliError when there is none, naming where it was looked for and what to do
 */
export async function findRun(context: CliContext, root: string, given: string | undefined): Promise<FoundRun> {
  if (given === undefined || given === 'latest') return byId(context, root, await latest(context, root))
  if (RUN_ID.test(given)) {
    const dir = await realPath(root, join(RUNS, given))
    if (dir !== null) return at(context, dir, root)
  }
  const folder = resolve(context.cwd, given)
  const dir = await realPath(dirname(folder), basename(folder))
  if (dir === null) {
    if (given === 'accepted')
      throw new CliError(
        'accepted records are no run: vitest-campaign compare accepted <run> takes them, as its first side',
      )
    throw new CliError(
      `there is no run ${JSON.stringify(given)}: neither a folder of that name in ${shown(context, join(root, RUNS))} nor ${shown(context, folder)}`,
    )
  }
  return at(context, dir, basename(dirname(dir)) === RUNS ? dirname(dirname(dir)) : root)
}

async function latest(context: CliContext, root: string): Promise<string> {
  const pointer = await realPath(root, join(RUNS, 'latest'))
  if (pointer === null) {
    throw new CliError(
      `there is no run in ${shown(context, join(root, RUNS))}: run the campaign first (npx vitest run --project evals), or name the project's root with --root`,
    )
  }
  const id = (await readFile(pointer, 'utf8')).trim()
  if (RUN_ID.test(id)) return id
  throw new CliError(`${shown(context, pointer)} names no run: ${JSON.stringify(id.slice(0, 80))}`)
}

async function byId(context: CliContext, root: string, id: string): Promise<FoundRun> {
  const dir = await realPath(root, join(RUNS, id))
  if (dir !== null) return at(context, dir, root)
  throw new CliError(`the newest run, ${id}, is gone from ${shown(context, join(root, RUNS))}`)
}

async function at(context: CliContext, dir: string, root: string): Promise<FoundRun> {
  const journal = await realPath(dir, 'journal.jsonl')
  if (journal === null) throw new CliError(`${shown(context, dir)} is no run: it holds no journal.jsonl`)
  return { runId: basename(dir), dir, journal, root }
}
