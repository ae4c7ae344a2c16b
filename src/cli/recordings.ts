import { readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createRedactor } from '../core/traffic/redact.ts'
import { type CliArguments, type CliContext, CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { findRecordings } from './recordings/find.ts'
import { bodyPath, type Inspected, inspect } from './recordings/inspect.ts'
import { type Planned, plannedCells } from './recordings/planned.ts'
import { findRun } from './run-folder.ts'

const ACTIONS = ['list', 'check', 'prune'] as const
type Action = (typeof ACTIONS)[number]

/** Largest bodies that `check` names. */
const LARGEST = 5

export const recordings: Command = {
  name: 'recordings',
  summary: 'list, check or prune the recordings of a project',
  positionals: ['[list|check|prune]'],
  details: [
    'list: every recording with its calls, date and size.',
    'check: schema, place and leftover secrets of each; cells that the eval files no longer have; what the newest run did',
    'not ask for; the largest bodies. Exit code 1 when a recording is damaged or holds a secret.',
    'prune: removes recordings of cells that the eval files no longer have, and bodies that no recording names.',
  ],
  options: {
    'dry-run': { type: 'boolean', description: 'prune: say what would be removed' },
    'no-collect': { type: 'boolean', description: 'check: do not start Vitest to learn the cells' },
  },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const action = actionOf(args)
    const redactor = createRedactor({ env: context.env })
    const folders = await findRecordings(root)
    if (folders.length === 0) {
      note(context, `no __recordings__ folder below ${shown(context, root)}`)
      return 0
    }
    if (action === 'list') {
      for (const { folder, files } of folders) {
        for (const path of files) context.stdout.write(`${lineOf(context, await inspect(folder, path, redactor))}\n`)
      }
      return 0
    }
    const planned = args.flag('no-collect') && action === 'check' ? null : await collected(context, root, action)
    return action === 'check'
      ? check(context, root, folders, planned, redactor)
      : prune(context, folders, planned, redactor, args.flag('dry-run'))
  },
}

type Folders = Awaited<ReturnType<typeof findRecordings>>
type Redactor = ReturnType<typeof createRedactor>

function actionOf(args: CliArguments): Action {
  const given = args.positionals[0] ?? 'list'
  const action = ACTIONS.find((known) => known === given)
  if (action === undefined) throw new CliError(`${JSON.stringify(given)} is no action: ${ACTIONS.join(', ')}`)
  return action
}

async function collected(context: CliContext, root: string, action: Action): Promise<Planned | null> {
  try {
    return await plannedCells(root, context.env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // What is no longer planned is not known, and nothing is removed on a guess.
    if (action === 'prune') throw new CliError(`nothing was removed: ${why}`)
    note(context, `not checked against the eval files: ${why}`)
    return null
  }
}

function lineOf(context: CliContext, { path, bytes, recording, problems }: Inspected): string {
  if (recording === null) return `${shown(context, path)}  unreadable: ${problems[0] ?? ''}`
  const { exchanges, recordedAt } = recording
  const calls = `${exchanges.length} ${exchanges.length === 1 ? 'call' : 'calls'}`
  return `${shown(context, path)}  ${calls}  ${recordedAt.slice(0, 10)}  ${sizeOf(bytes)}`
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

async function check(
  context: CliContext,
  root: string,
  folders: Folders,
  planned: Planned | null,
  redactor: Redactor,
): Promise<number> {
  const { stdout } = context
  let bad = 0
  let total = 0
  const stale: string[] = []
  const large: { readonly bytes: number; readonly text: string }[] = []
  for (const { folder, files, bodies, strange } of folders) {
    const named = new Set<string>()
    for (const path of files) {
      const found = await inspect(folder, path, redactor)
      total++
      if (found.problems.length > 0) bad++
      for (const problem of found.problems) stdout.write(`bad    ${shown(context, path)}: ${problem}\n`)
      for (const name of found.shared) named.add(bodyPath(folder, name))
      if (isStale(found, folder, planned)) stale.push(path)
      const { largest } = found
      if (largest !== null) large.push({ bytes: largest.bytes, text: `${shown(context, path)}: ${largest.of}` })
      large.sort((a, b) => b.bytes - a.bytes).splice(LARGEST)
    }
    bad += strange.length
    for (const text of strange) stdout.write(`bad    ${text.replace(folder, shown(context, folder))}\n`)
    for (const body of bodies)
      if (!named.has(body)) stdout.write(`stray  ${shown(context, body)}: no recording names it\n`)
  }
  for (const path of stale) stdout.write(`stale  ${shown(context, path)}: no eval file beside it has this cell\n`)
  for (const text of await unused(context, root)) stdout.write(`unused ${text}\n`)
  for (const { bytes, text } of large) stdout.write(`large  ${sizeOf(bytes)}  ${text}\n`)
  const known = planned === null ? '' : `, ${stale.length} stale`
  stdout.write(`${total} ${total === 1 ? 'recording' : 'recordings'}, ${bad} bad${known}\n`)
  return bad > 0 ? 1 : 0
}

const isStale = ({ recording }: Inspected, folder: string, planned: Planned | null) =>
  recording !== null && planned !== null && !planned.has(dirname(folder), recording)

/** What the newest run was recorded and did not ask for, in the words of its records. */
async function unused(context: CliContext, root: string): Promise<string[]> {
  let path: string | null
  try {
    path = await realPath((await findRun(context, root, undefined)).dir, 'records.jsonl')
  } catch {
    // No run yet: nothing is known, and nothing is wrong.
    return []
  }
  if (path === null) return []
  const found: string[] = []
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    if (!line.includes('"replay_unused"')) continue
    const record = JSON.parse(line) as {
      readonly [id in 'campaignId' | 'variantId' | 'scenarioId']: string
    } & { readonly seed: number; readonly integrity: { readonly issues: readonly { code: string; message: string }[] } }
    const cell = `${record.campaignId} > ${record.variantId} > ${record.scenarioId} > seed ${record.seed}`
    for (const { code, message } of record.integrity.issues) {
      if (code === 'replay_unused') found.push(`${cell}: ${message}`)
    }
  }
  return found
}

async function prune(
  context: CliContext,
  folders: Folders,
  planned: Planned | null,
  redactor: Redactor,
  dry: boolean,
): Promise<number> {
  let removed = 0
  async function remove(path: string, why: string): Promise<void> {
    removed++
    context.stdout.write(`${dry ? 'would remove' : 'removed'} ${shown(context, path)}: ${why}\n`)
    if (!dry) await rm(path)
  }
  for (const { folder, files, bodies } of folders) {
    const named = new Set<string>()
    for (const path of files) {
      const found = await inspect(folder, path, redactor)
      // One that cannot be read says nothing about its cell: `check` names it, a person decides.
      if (isStale(found, folder, planned)) {
        await remove(path, 'no eval file beside it has this cell')
        if (!dry) await removeEmpty(folder, dirname(path))
      } else for (const name of found.shared) named.add(bodyPath(folder, name))
    }
    for (const body of bodies) if (!named.has(body)) await remove(body, 'no recording names it')
  }
  context.stdout.write(`${removed} ${removed === 1 ? 'file' : 'files'} ${dry ? 'to remove' : 'removed'}\n`)
  return 0
}

/** Folders that became empty, up to the one of all recordings. */
async function removeEmpty(folder: string, from: string): Promise<void> {
  for (let at = from; at !== folder && at.startsWith(join(folder, '/')); at = dirname(at)) {
    try {
      await rmdir(at)
    } catch {
      return
    }
  }
}
