import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { changedParts, type FingerprintParts } from '../../core/journal/changes.ts'
import { type EarlierCampaign, type EarlierRun, earlierRun } from '../../core/journal/earlier.ts'
import { JournalDamagedError, journalLines } from '../../core/journal/read.ts'
import type { RecordPlace } from '../../core/journal/recorded.ts'
import { isUnfinished } from '../../core/journal/resume.ts'
import { thisProcess } from '../process-identity.ts'
import { type ManifestSummary, readManifest } from './manifest.ts'
import { ownerState, ownerWords } from './owner.ts'
import { RUNS } from './run-folder.ts'

/** Runs that are looked through, the newest first. */
const LOOKED_AT = 100
export const RUN_ID = /^\d{8}T\d{6}Z-[0-9a-f]+$/
const PIECE = 1 << 20

/** A campaign as it is about to run. */
export interface Wanted extends FingerprintParts {
  readonly fingerprint: string
}

export type Found =
  /** Nothing is left to do of it, or it never ran. */
  | { readonly kind: 'none' }
  /** A run that goes on, or may go on, has it. */
  | { readonly kind: 'busy'; readonly runId: string; readonly why: string }
  /** What it did is not known any more: somebody emptied or deleted its journal. */
  | { readonly kind: 'lost'; readonly runId: string; readonly why: string }
  /** It was left unfinished, and is another one now. */
  | { readonly kind: 'changed'; readonly runId: string; readonly parts: readonly string[] }
  /** It was left unfinished by a run that answered its calls in another way. */
  | { readonly kind: 'other-mode'; readonly runId: string; readonly policy: string }
  | { readonly kind: 'unfinished'; readonly journal: EarlierJournal; readonly campaign: EarlierCampaign }

/** Why a campaign does not go on with what was found. */
export function whyAfresh(found: Exclude<Found, { readonly kind: 'none' | 'unfinished' }>): string {
  const { runId } = found
  switch (found.kind) {
    case 'busy':
      return `run ${runId} ${found.why}`
    case 'lost':
      return `the journal of run ${runId} ${found.why}, so that nobody knows what that run settled and paid; its captures are in its raw/`
    case 'other-mode':
      return `run ${runId} is unfinished, but answered calls otherwise (${found.policy})`
    case 'changed': {
      const parts = found.parts.length === 0 ? 'its code' : found.parts.join(', ')
      return `run ${runId} is unfinished, but the campaign is another one since: ${parts}`
    }
  }
}

/** The journal of an earlier run, open for what is read again. */
export class EarlierJournal {
  readonly runId: string
  readonly dir: string
  readonly path: string
  #read: EarlierRun
  readonly #handle: number
  #bytes: number

  /** @throws JournalDamagedError where a line is damaged */
  constructor(runId: string, dir: string) {
    this.runId = runId
    this.dir = dir
    this.path = join(dir, 'journal.jsonl')
    this.#handle = openSync(this.path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      this.#bytes = fstatSync(this.#handle).size
      this.#read = this.#parse(this.#bytes)
    } catch (error) {
      closeSync(this.#handle)
      throw error
    }
  }

  get run(): EarlierRun {
    return this.#read
  }

  /** Reads it again where somebody has written to it since. Call it when nobody can any more. */
  refresh(): void {
    const { size } = fstatSync(this.#handle)
    if (size === this.#bytes) return
    this.#bytes = size
    this.#read = this.#parse(size)
  }

  /** Takes note of lines that this process has appended, and that say nothing of cells: nothing is read again for them. */
  appended(lines: number): void {
    this.#bytes = fstatSync(this.#handle).size
    const { journal } = this.#read
    this.#read = {
      ...this.#read,
      journal: { ...journal, lines: journal.lines + lines, intactBytes: this.#bytes, repaired: null },
    }
  }

  line({ offset, length }: RecordPlace): Buffer {
    const line = Buffer.alloc(length)
    readSync(this.#handle, line, 0, length, offset)
    return line
  }

  close(): void {
    closeSync(this.#handle)
  }

  #parse(bytes: number): EarlierRun {
    return earlierRun(journalLines(piecesOf(this.#handle, bytes), this.path))
  }
}

function* piecesOf(handle: number, bytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(Math.min(PIECE, bytes))
  for (let at = 0; at < bytes; ) {
    const length = readSync(handle, piece, 0, Math.min(piece.length, bytes - at), at)
    if (length === 0) return
    at += length
    yield piece.subarray(0, length)
  }
}

/** What a campaign that the damaged journal may be about is told, before anything is paid again. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError'
}

interface Looked {
  readonly runId: string
  readonly dir: string
  readonly manifest: ManifestSummary | null
}

export interface LookingOptions {
  readonly root: string
  /** The run that looks. */
  readonly runId: string
  readonly project: string
  readonly policy: string
  /** The run that looks has taken the folder of this one already, for another of its campaigns. */
  isTaken(runId: string): boolean
}

/** The runs before this one, the newest first; each journal is read at most once. */
export class EarlierRuns {
  readonly #options: LookingOptions
  #listed: Promise<ReadonlyMap<string, Looked>> | null = null
  readonly #journals = new Map<string, EarlierJournal | JournalDamagedError | null>()

  constructor(options: LookingOptions) {
    this.#options = options
  }

  /**
   * The newest run of the campaign, with this fingerprint, that ran all of it.
   *
   * @throws UnreadableRunError where it is damaged
   */
  async find(wanted: Wanted): Promise<Found> {
    this.#listed ??= this.#list()
    const byId = await this.#listed
    const seen = new Set<string>()
    let aside: Found = { kind: 'none' }
    const look = async (each: Looked): Promise<Found | null> => {
      if (seen.has(each.runId)) return null
      seen.add(each.runId)
      const found = await this.#look(each, wanted, byId)
      if (found === null) return null
      if (found.kind === 'changed' || found.kind === 'other-mode' || found.kind === 'lost') {
        if (aside.kind === 'none') aside = found
        return null
      }
      // A clock that went back gives the later run the earlier name.
      const later = found.kind === 'unfinished' ? byId.get(found.campaign.continuedBy ?? '') : undefined
      return (later === undefined ? null : await look(later)) ?? found
    }
    for (const each of byId.values()) {
      const found = await look(each)
      if (found !== null) return found
    }
    return aside
  }

  close(): void {
    for (const journal of this.#journals.values()) if (journal instanceof EarlierJournal) journal.close()
    this.#journals.clear()
  }

  async #list(): Promise<ReadonlyMap<string, Looked>> {
    const { root, runId: own, project } = this.#options
    const runs = join(root, RUNS)
    // A symbolic link is no folder of ours.
    const names = (await readdir(runs, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name) && entry.name !== own)
      .map((entry) => entry.name)
      .sort()
      .reverse()
      .slice(0, LOOKED_AT)
    const looked = await Promise.all(
      names.map(async (runId) => {
        const dir = join(runs, runId)
        return { runId, dir, manifest: await readManifest(join(dir, 'manifest.json')) }
      }),
    )
    const ours = looked.filter(({ manifest }) => manifest === null || manifest.project === project)
    return new Map(ours.map((each) => [each.runId, each]))
  }

  async #look(
    { runId, dir, manifest }: Looked,
    wanted: Wanted,
    byId: ReadonlyMap<string, Looked>,
  ): Promise<Found | null> {
    const { campaignId } = wanted.plan
    if (manifest?.end === 'finished' && manifest.campaigns.every(({ unfinished }) => unfinished === 0)) {
      const campaign = manifest.campaigns.find((each) => each.campaignId === campaignId)
      const same = campaign?.fingerprint === wanted.fingerprint && manifest.policy.traffic === this.#options.policy
      return same && campaign.selected === 'all' && !campaign.skipped ? { kind: 'none' } : null
    }
    const journal = this.#journal(runId, dir)
    // The manifest of a run is written when the first line of its journal is durable.
    if (
      manifest !== null &&
      (journal === null || (!(journal instanceof JournalDamagedError) && journal.run.run === null))
    ) {
      const others = manifest.campaigns.length > 0 && manifest.campaigns.every((each) => each.campaignId !== campaignId)
      const why = journal === null ? 'is gone' : 'is empty'
      return others ? null : { kind: 'lost', runId, why }
    }
    if (journal === null) return null
    if (journal instanceof JournalDamagedError) throw unreadable(runId, dir, journal)
    const { run, campaigns } = journal.run
    const campaign = campaigns.get(campaignId)
    // Neither a shard nor what shards were merged into: their captures lie with the shards.
    if (run === null || run.shard !== undefined || run.merged !== undefined) return null
    if (run.project !== this.#options.project || campaign === undefined || !campaign.whole) return null
    if (!this.#options.isTaken(runId)) {
      const state = await ownerState({ dir, here: thisProcess(), now: () => new Date() })
      // Taken meanwhile: two files' plans arrive at the same time.
      if (state.held !== 'free' && !this.#options.isTaken(runId)) {
        return { kind: 'busy', runId, why: ownerWords(state) }
      }
    }
    const unfinished = isUnfinished(journal.run, (by, id) => this.#answers(byId.get(by), id))
    if (run.policy !== this.#options.policy) {
      return unfinished ? { kind: 'other-mode', runId, policy: run.policy } : null
    }
    if (campaign.fingerprint !== wanted.fingerprint) {
      return unfinished ? { kind: 'changed', runId, parts: changedParts(campaign, wanted) } : null
    }
    return unfinished ? { kind: 'unfinished', journal, campaign } : { kind: 'none' }
  }

  /** A run answers for a campaign from its plan line on. */
  #answers(looked: Looked | undefined, campaignId: string): boolean {
    if (looked === undefined) return false
    const { runId, dir, manifest } = looked
    if (manifest?.campaigns.some((each) => each.campaignId === campaignId) === true) return true
    const journal = this.#journal(runId, dir)
    return journal instanceof EarlierJournal && journal.run.campaigns.has(campaignId)
  }

  #journal(runId: string, dir: string): EarlierJournal | JournalDamagedError | null {
    const known = this.#journals.get(runId)
    if (known !== undefined) return known
    let journal: EarlierJournal | JournalDamagedError | null
    try {
      journal = new EarlierJournal(runId, dir)
    } catch (error) {
      // A folder without a journal is one of a run that never got to anything.
      if (error instanceof JournalDamagedError) journal = error
      else if ((error as NodeJS.ErrnoException).code === 'ENOENT') journal = null
      else {
        const why = error instanceof Error ? error.message : String(error)
        throw new UnreadableRunError(
          `run ${runId} may be unfinished, and its journal cannot be read: ${why}. Delete ${dir}, or set EVALS_RESUME=0 to start afresh`,
          { cause: error },
        )
      }
    }
    this.#journals.set(runId, journal)
    return journal
  }
}

function unreadable(runId: string, dir: string, { message, intact }: JournalDamagedError): UnreadableRunError {
  return new UnreadableRunError(
    `the newest unfinished run, ${runId}, cannot be continued: ${message}. Cut journal.jsonl there after ${intact.bytes} ` +
      `bytes to go on with what is intact, delete ${dir}, or set EVALS_RESUME=0 to start afresh and pay all of it again`,
  )
}
