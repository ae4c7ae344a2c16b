import type { CampaignPlan } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import { type MicroUsd, toMicroUsd } from '../record/usage.ts'
import type { EarlierSpend, EntryOf } from './entry.ts'
import type { JournalEnd, JournalLine } from './read.ts'
import type { RecordPlace } from './recorded.ts'

export interface Admitted {
  readonly attempt: number
  /** Null where no budget was set. */
  readonly heldMicroUsd: MicroUsd | null
}

/** What an earlier run knows of a cell. The texts stay in its journal: they are read again when they are wanted. */
export interface EarlierCell {
  /** Its last record. */
  readonly record:
    | (Pick<RunRecord, 'status' | 'reason' | 'attempts' | 'provenance'> & {
        readonly place: RecordPlace
        /** As it says, or as somebody settled it by hand; null: unknown. */
        readonly microUsd: MicroUsd | null
        /** To providers. */
        readonly calls: number
      })
    | null
  /** Its attempts that may have reached a network, in order. */
  readonly admitted: readonly Admitted[]
  /** The last output that was journalled. */
  readonly output: { readonly attempt: number; readonly place: RecordPlace; readonly faithful: boolean } | null
}

export interface EarlierCampaign {
  readonly plan: CampaignPlan
  readonly fingerprint: EntryOf<'plan'>['fingerprint']
  readonly code: EntryOf<'plan'>['code']
  /** All of its cells were to run. */
  readonly whole: boolean
  readonly spends: readonly EarlierSpend[]
  /** The run that went on with it; null where none has. */
  readonly continuedBy: string | null
}

/** An earlier run, as far as a later one can go on with it. */
export interface EarlierRun {
  readonly run: EntryOf<'run'> | null
  readonly end: EntryOf<'end'>['reason'] | null
  readonly campaigns: ReadonlyMap<string, EarlierCampaign>
  /** By cell id. */
  readonly cells: ReadonlyMap<string, EarlierCell>
  readonly journal: JournalEnd & { readonly lines: number }
}

const NOTHING: EarlierCell = { record: null, admitted: [], output: null }

/** @throws JournalDamagedError where a line is damaged */
export function earlierRun(lines: Generator<JournalLine, JournalEnd>): EarlierRun {
  let run: EntryOf<'run'> | null = null
  let end: EntryOf<'end'>['reason'] | null = null
  let count = 0
  const plans = new Map<string, EntryOf<'plan'>>()
  const resumed = new Map<string, EntryOf<'resumed'>>()
  const continuedBy = new Map<string, string>()
  const cells = new Map<string, EarlierCell>()
  const set = (cellId: string, known: Partial<EarlierCell>): void => {
    cells.set(cellId, { ...(cells.get(cellId) ?? NOTHING), ...known })
  }
  let next = lines.next()
  for (; !next.done; next = lines.next()) {
    count++
    const { entry, line, offset } = next.value
    const place = { offset, length: line.length }
    switch (entry.kind) {
      case 'run':
        run = entry
        break
      case 'plan':
        plans.set(entry.plan.campaignId, entry)
        break
      case 'resumed':
        resumed.set(entry.campaignId, entry)
        break
      case 'fenced':
        continuedBy.set(entry.campaignId, entry.by)
        break
      case 'admitted':
        set(entry.cellId, { admitted: withAttempt(cells.get(entry.cellId)?.admitted ?? [], entry) })
        break
      case 'subject-settled': {
        const faithful = entry.subject?.faithful === true && (entry.output !== undefined || entry.file !== undefined)
        set(entry.cellId, { output: { attempt: entry.attempt, place, faithful } })
        break
      }
      case 'settled': {
        const { cellId, status, reason, attempts, provenance, cost, calls } = entry.record
        set(cellId, {
          record: {
            status,
            attempts,
            provenance,
            place,
            microUsd: cost.usd === null ? null : toMicroUsd(cost.usd),
            calls: calls.subject + calls.judge + calls.setup,
            ...(reason === undefined ? {} : { reason }),
          },
        })
        break
      }
      case 'reconciled': {
        const { record } = cells.get(entry.cellId) ?? NOTHING
        // Only a bill that nobody knew is settled by hand.
        if (record !== null && record.attempts === entry.attempt && record.microUsd === null) {
          set(entry.cellId, { record: { ...record, microUsd: entry.microUsd } })
        }
        break
      }
      case 'end':
        end = entry.reason
    }
  }
  const campaigns = new Map<string, EarlierCampaign>()
  for (const [campaignId, { plan, fingerprint, code, selection, skipped }] of plans) {
    campaigns.set(campaignId, {
      plan,
      fingerprint,
      code,
      whole: selection === 'all' && !skipped,
      spends: resumed.get(campaignId)?.spends ?? [],
      continuedBy: continuedBy.get(campaignId) ?? null,
    })
  }
  return { run, end, campaigns, cells, journal: { ...next.value, lines: count } }
}

function withAttempt(
  before: readonly Admitted[],
  { attempt, heldMicroUsd }: Pick<EntryOf<'admitted'>, 'attempt' | 'heldMicroUsd'>,
): readonly Admitted[] {
  const admitted: Admitted = { attempt, heldMicroUsd: heldMicroUsd ?? null }
  return before.length === 0 ? [admitted] : [...before.filter((each) => each.attempt !== attempt), admitted]
}
