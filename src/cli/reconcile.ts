import { readFile } from 'node:fs/promises'
import { isBudget } from '../core/capacity/budget.ts'
import { createAppender } from '../core/journal/append.ts'
import type { EntryOf } from '../core/journal/entry.ts'
import { readJournal } from '../core/journal/read.ts'
import { type MicroUsd, toMicroUsd, toUsd } from '../core/record/usage.ts'
import { printable } from '../core/traffic/hostile.ts'
import { reopenJournalFile } from '../plugin/pool/journal-file.ts'
import { claimFolder, FolderBusyError, type Ownership } from '../plugin/pool/owner.ts'
import { thisProcess } from '../plugin/process-identity.ts'
import { type CliContext, CliError, type Command } from './command.ts'
import { projectRoot, shown } from './project.ts'
import { type OpenRun, openRun } from './rebuild.ts'
import { type FoundRun, findRun } from './run-folder.ts'

export const reconcile: Command = {
  name: 'reconcile',
  summary: 'list the cells of a run whose bill nobody knows, and settle them by hand',
  positionals: ['[run]'],
  details: [
    'A call that was cut off, or an answer without usage, may have been billed: under a budget what was held for its cell',
    "stays reserved. Look the charge up in the provider's own records and write it down; reports made from then on count it.",
    '[run] is the id of a run, its folder, or nothing for the newest.',
  ],
  options: {
    cell: { type: 'string', value: '<id>', description: 'settle this cell; its id stands in the list' },
    all: { type: 'boolean', description: 'settle every cell of the list' },
    usd: { type: 'string', value: '<amount>', description: 'what each of them was charged, in US dollars' },
  },
  async run(context, args) {
    const cell = args.text('cell')
    const all = args.flag('all')
    const microUsd = amountOf(args.text('usd'))
    if (cell !== undefined && all) throw new CliError('--cell and --all exclude each other')
    if ((cell !== undefined || all) !== (microUsd !== null)) {
      throw new CliError(
        'to settle a bill name the cell and the amount: --cell <id> --usd <amount>, or --all --usd <amount>',
      )
    }
    const root = await projectRoot(context, args)
    const found = await findRun(context, root, args.positionals[0])
    if (microUsd === null) return list(context, found)
    const entries = await settle(context, found, (run) => due(run, cell, microUsd))
    const cells = entries.length === 1 ? '1 cell' : `${entries.length} cells`
    const again = `vitest-campaign report ${shown(context, found.dir)}`
    context.stdout.write(`settled ${cells} of run ${found.runId} at $${toUsd(microUsd)} each; ${again} counts it\n`)
    return 0
  },
}

interface Bill {
  readonly cellId: string
  readonly attempt: number
  readonly text: string
}

async function list(context: CliContext, found: FoundRun): Promise<number> {
  const { bills, by } = await withRun(context, found, (run) => ({
    bills: [...billsOf(run)],
    by: run.recorded.continuedBy,
  }))
  if (bills.length === 0) {
    context.stdout.write(`run ${found.runId}: every bill is known\n`)
    return 0
  }
  context.stdout.write(
    `run ${found.runId}: unknown ${bills.length === 1 ? 'bill of 1 cell' : `bills of ${bills.length} cells`}\n`,
  )
  for (const { text } of bills) context.stdout.write(`${text}\n`)
  if (by !== null) {
    context.stdout.write(
      `run ${by} went on with it: \`vitest-campaign reconcile ${by}\` settles what that run has, which is what later runs read\n`,
    )
  }
  return 0
}

/** What is to be written: nothing for a cell that says the same already. */
function due(run: OpenRun, cell: string | undefined, microUsd: MicroUsd): readonly EntryOf<'reconciled'>[] {
  const at = new Date().toISOString()
  const bills = [...billsOf(run)]
  const named = cell === undefined ? bills : bills.filter(({ cellId }) => cellId === cell)
  if (cell !== undefined && named.length === 0) {
    const settled = settledAt(run, cell)
    if (settled === microUsd) return []
    if (settled !== null) {
      throw new CliError(`cell ${cell} was settled at $${toUsd(settled)} already; a bill is settled once`)
    }
    throw new CliError(
      `run ${run.runId} has no unknown bill of a cell ${JSON.stringify(cell)}: list them without --cell`,
    )
  }
  return named.map(({ cellId, attempt }) => ({ kind: 'reconciled', cellId, attempt, microUsd, at }))
}

function* billsOf(run: OpenRun): Generator<Bill> {
  for (const campaign of run.recorded.campaigns) {
    for (const { record, attempt, heldMicroUsd, lane } of run.unknownBills(campaign)) {
      const { cellId, campaignId, variantId, scenarioId, seed, status, reason } = record
      const name = `${campaignId} > ${variantId} > ${scenarioId} > seed ${seed}`
      const held = heldWords(heldMicroUsd)
      const ended = reason === undefined ? status : `${status} (${reason})`
      const text = printable(`  ${cellId}  ${name}: ${ended}, ${lane ?? 'no lane'}, ${held}`)
      yield { cellId, attempt, text }
    }
  }
}

function heldWords(microUsd: MicroUsd | null): string {
  if (microUsd === null) return 'bought by an earlier run, carried over'
  return microUsd === 0 ? 'nothing held' : `$${toUsd(microUsd)} held`
}

function settledAt(run: OpenRun, cellId: string): MicroUsd | null {
  for (const campaign of run.recorded.campaigns) {
    if (!campaign.budget.reconciled.has(cellId)) continue
    for (const record of run.records(campaign)) {
      if (record.cellId === cellId && record.cost.usd !== null) return toMicroUsd(record.cost.usd)
    }
  }
  return null
}

async function withRun<T>(context: CliContext, found: FoundRun, body: (run: OpenRun) => T): Promise<T> {
  const run = await openRun(context, found)
  try {
    return body(run)
  } finally {
    run.close()
  }
}

/** As the next owner of the folder: a run that goes on has it, and a later one sees who wrote. */
async function settle(
  context: CliContext,
  found: FoundRun,
  dueIn: (run: OpenRun) => readonly EntryOf<'reconciled'>[],
): Promise<readonly EntryOf<'reconciled'>[]> {
  const ownership = await claim(found)
  try {
    const entries = await withRun(context, found, dueIn)
    if (entries.length === 0) return entries
    const name = shown(context, found.journal)
    const { entries: before, intactBytes } = readJournal(await readFile(found.journal), name)
    const file = await reopenJournalFile(found.journal, intactBytes, () => ownership.assert())
    const journal = createAppender(file, { name, firstSeq: before.length, fence: ownership.fence })
    try {
      for (const entry of entries) journal.appendLazy(entry)
    } finally {
      await journal.close()
    }
    return entries
  } finally {
    await ownership.release()
  }
}

async function claim({ dir }: FoundRun): Promise<Ownership> {
  try {
    return await claimFolder({ dir, here: thisProcess(), now: () => new Date() })
  } catch (error) {
    if (!(error instanceof FolderBusyError)) throw error
    throw new CliError(`${error.message}: settle its bills when it is over`, { cause: error })
  }
}

function amountOf(text: string | undefined): MicroUsd | null {
  if (text === undefined) return null
  const usd = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN
  if (isBudget(usd)) return toMicroUsd(usd)
  throw new CliError(`--usd ${JSON.stringify(text)} is no amount: write US dollars, for instance --usd 0.12`)
}
