import { cellsOf } from '../campaign/cells.ts'
import { isInShard, type Shard } from '../campaign/shard.ts'
import { interruptionOf } from '../report/interruption.ts'
import type { Reason } from '../report/report.ts'
import type { EntryOf, JournalEntry } from './entry.ts'

/** One run on disk, for messages and for its entries. */
export interface ShardRun {
  readonly name: string
  readonly entries: readonly JournalEntry[]
}

/** What cannot be put together: nothing is written. */
export class MergeError extends Error {
  override readonly name = 'MergeError'
}

export interface Merged {
  /** The first line, but for what the new run is called. */
  readonly run: Omit<EntryOf<'run'>, 'runId' | 'startedAt'>
  /** Everything behind it but looks, verdicts and the end. */
  readonly entries: readonly JournalEntry[]
  readonly end: EntryOf<'end'>['reason']
  /** Shards without a run: their cells are `not_run`. */
  readonly missing: readonly number[]
}

interface Read extends ShardRun {
  readonly run: EntryOf<'run'>
  readonly shard: Shard
  readonly plans: readonly EntryOf<'plan'>[]
  readonly finished: boolean
}

/** Findings that count cells: those of the parts do not add up to that of the whole, and are found anew. */
const COUNTED_PROBLEMS: ReadonlySet<string> = new Set(['interrupted', 'self_recorded'])

/**
 * The journal that an unsharded run of the same cells would have left, as far as its shards have one: plans of all cells,
 * every record as its shard wrote it. A cell that two shards have, or that belongs to none of them, makes its campaign
 * invalid.
 *
 * @throws MergeError where the runs are not shards of one run, naming the two that differ
 */
export function mergeShards(runs: readonly ShardRun[]): Merged {
  const shards = runs.map(readShard)
  const [first] = shards
  if (first === undefined) throw new MergeError('nothing to merge: name the run folders of the shards')
  for (const other of shards) checkSameRun(first, other)
  const plans = joinedPlans(shards)
  const kept = shards.flatMap((shard) => shard.entries.filter(isKept))
  const { count } = first.shard
  const present = new Set(shards.map(({ shard }) => shard.index))
  const interrupted = shards.some(({ finished }) => !finished)
  const { shard: _shard, runId: _id, startedAt: _at, ...run } = first.run
  const share = run.budgetMicroUsd ?? null
  return {
    // Every shard had an equal share of the budget, rounded down to a whole micro-USD.
    run: {
      ...run,
      ...(share === null ? {} : { budgetMicroUsd: share * count }),
      merged: shards.map(({ run: { runId }, shard }) => ({ runId, shard })),
    },
    entries: [
      ...[...plans.values()].map((plan) => ({ ...plan, selection: 'all' as const })),
      ...besides(shards),
      ...kept,
      ...problemsOf(shards),
      ...[...plans.values()].flatMap((plan) => faultsOf(plan, shards)),
    ],
    end: interrupted ? 'interrupted' : 'finished',
    missing: Array.from({ length: count }, (_, at) => at + 1).filter((index) => !present.has(index)),
  }
}

function readShard({ name, entries }: ShardRun): Read {
  const run = entries.find((entry) => entry.kind === 'run')
  if (run === undefined) throw new MergeError(`${name} has no first line that says which run it is`)
  if (run.shard === undefined) {
    throw new MergeError(
      `${name} is no shard: it was run whole. Merge runs of \`--shard <index>/<count>\`, or of EVALS_SHARD`,
    )
  }
  const plans = entries.filter((entry) => entry.kind === 'plan')
  const finished = entries.some((entry) => entry.kind === 'end' && entry.reason === 'finished')
  return { name, entries, run, shard: run.shard, plans, finished }
}

function checkSameRun(first: Read, other: Read): void {
  const differ = (what: string, a: string, b: string): never => {
    throw new MergeError(
      `${first.name} and ${other.name} are no shards of one run: ${what} is ${a} in the one and ${b} in the other`,
    )
  }
  const { run, shard } = other
  if (other !== first && run.runId === first.run.runId) throw new MergeError(`${other.name} was named twice`)
  if (shard.count !== first.shard.count) differ('the number of shards', `${first.shard.count}`, `${shard.count}`)
  if (run.project !== first.run.project) differ('the project', first.run.project, run.project)
  if (run.policy !== first.run.policy) differ('how calls are answered', first.run.policy, run.policy)
  const [one, two] = [first.run.budgetMicroUsd ?? null, run.budgetMicroUsd ?? null]
  if (one !== two) differ('its share of the budget', `${one} micro-USD`, `${two} micro-USD`)
  if (run.commit.sha !== first.run.commit.sha) differ('the commit', `${first.run.commit.sha}`, `${run.commit.sha}`)
}

/** One plan per campaign, after checking that every shard meant the same by it and ran all of its part. */
function joinedPlans(shards: readonly Read[]): ReadonlyMap<string, EntryOf<'plan'>> {
  const joined = new Map<string, { readonly plan: EntryOf<'plan'>; readonly by: Read }>()
  for (const by of shards) {
    for (const plan of by.plans) {
      const { campaignId } = plan.plan
      const known = joined.get(campaignId)
      if (known !== undefined && known.plan.fingerprint !== plan.fingerprint) {
        throw new MergeError(
          `${known.by.name} and ${by.name} ran different versions of campaign ${JSON.stringify(campaignId)}: its code, its definition or the lock file changed between them. Run the shards from one commit`,
        )
      }
      checkWhole(plan, by)
      if (known === undefined) joined.set(campaignId, { plan, by })
    }
  }
  return new Map([...joined].map(([campaignId, { plan }]) => [campaignId, plan]))
}

/** A shard of a filtered run would pass for one whose cells were lost. */
function checkWhole({ plan, selection, skipped }: EntryOf<'plan'>, { name, shard }: Read): void {
  if (skipped || selection === 'all') return
  const chosen = new Set(selection)
  const left = cellsOf(plan).filter(({ cellId }) => isInShard(cellId, shard) && !chosen.has(cellId)).length
  if (left === 0) return
  throw new MergeError(
    `${name} ran a part of its shard of campaign ${JSON.stringify(plan.campaignId)} alone: ${left} cells were filtered out (-t, .only). Run the shard whole`,
  )
}

type Kept = EntryOf<'admitted' | 'subject-settled' | 'settled' | 'bill' | 'reconciled'>
const isKept = (entry: JournalEntry): entry is Kept =>
  entry.kind === 'admitted' ||
  entry.kind === 'subject-settled' ||
  entry.kind === 'settled' ||
  entry.kind === 'bill' ||
  entry.kind === 'reconciled'

/** What verdicts are computed from beside the records, once for each campaign. */
function besides(shards: readonly Read[]): (EntryOf<'accepted'> | EntryOf<'prereg'>)[] {
  const found = new Map<
    string,
    { readonly text: string; readonly entry: EntryOf<'accepted'> | EntryOf<'prereg'>; readonly name: string }
  >()
  for (const { name, entries } of shards) {
    for (const entry of entries) {
      if (entry.kind !== 'accepted' && entry.kind !== 'prereg') continue
      const key = `${entry.kind} ${entry.campaignId}`
      const text = JSON.stringify(entry)
      const known = found.get(key)
      if (known !== undefined && known.text !== text) {
        const what = entry.kind === 'accepted' ? 'accepted records' : 'preregistrations'
        throw new MergeError(
          `${known.name} and ${name} were compared with different ${what} of campaign ${JSON.stringify(entry.campaignId)}`,
        )
      }
      if (known === undefined) found.set(key, { text, entry, name })
    }
  }
  return [...found.values()].map(({ entry }) => entry)
}

/** What the shards found, each once. */
function problemsOf(shards: readonly Read[]): EntryOf<'problem'>[] {
  const found = new Map<string, EntryOf<'problem'>>()
  for (const { entries } of shards) {
    for (const entry of entries) {
      if (entry.kind !== 'problem' || COUNTED_PROBLEMS.has(entry.code)) continue
      found.set(JSON.stringify([entry.campaignId, entry.code, entry.text]), entry)
    }
  }
  return [...found.values()]
}

/** What is wrong with a campaign only when its shards stand side by side. */
function faultsOf({ plan }: EntryOf<'plan'>, shards: readonly Read[]): EntryOf<'problem'>[] {
  const { campaignId } = plan
  const cells = cellsOf(plan)
  const planned = new Set(cells.map(({ cellId }) => cellId))
  const settledBy = new Map<string, number>()
  let foreign = 0
  let cut = 0
  for (const { entries, shard, finished } of shards) {
    const last = new Map<string, EntryOf<'settled'>['record']>()
    for (const entry of entries) {
      if (entry.kind === 'settled' && entry.record.campaignId === campaignId)
        last.set(entry.record.cellId, entry.record)
    }
    for (const { cellId, status, reason } of last.values()) {
      settledBy.set(cellId, (settledBy.get(cellId) ?? 0) + 1)
      if (planned.has(cellId) && !isInShard(cellId, shard)) foreign++
      if (reason === 'interrupted' && status !== 'scored' && status !== 'task_fail') cut++
    }
    if (finished) continue
    for (const { cellId } of cells) if (isInShard(cellId, shard) && !last.has(cellId)) cut++
  }
  const twice = [...settledBy.values()].filter((count) => count > 1).length
  const faults: Reason[] = []
  if (twice > 0) faults.push({ code: 'duplicate_cell', text: `${twice} cells were run by more than one of the shards` })
  if (foreign > 0) {
    faults.push({ code: 'manifest_mismatch', text: `${foreign} records are of cells that belong to another shard` })
  }
  if (cut > 0) faults.push(interruptionOf(cut, cells.length))
  return faults.map((fault) => ({ kind: 'problem', campaignId, ...fault }))
}
