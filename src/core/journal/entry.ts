import { z } from 'zod'
import type { Json } from '../campaign/canonical-json.ts'
import { CLOSURES } from '../capacity/events.ts'
import type { LaneTraffic } from '../capacity/lane-traffic.ts'
import type { BudgetSnapshot } from '../capacity/snapshot.ts'
import { Registration } from '../prereg/registration.ts'
import { AgentProfile } from '../record/agent-profile.ts'
import { RunRecord } from '../record/record.ts'
import { OUTCOMES } from '../report/report.ts'
import { digest, plan, selection } from './plan.ts'

const cellId = z.string().regex(/^[0-9a-f]{16}$/)
const attempt = z.number().int().positive()
const at = z.iso.datetime()

const shard = z.strictObject({ index: z.number().int().positive(), count: z.number().int().positive() })

/** The first line: which run this is and what it ran with. */
const run = z.strictObject({
  kind: z.literal('run'),
  runId: z.string(),
  project: z.string(),
  /** How provider calls are answered in this run, and why. */
  policy: z.string(),
  policyReason: z.string(),
  commit: z.strictObject({ sha: z.string().nullable(), dirty: z.boolean() }),
  versions: z.record(z.string(), z.string()),
  startedAt: at,
  /** The part of the cells that this run executes; absent: all. */
  shard: shard.optional(),
  /** The shards that this run was put together from; absent: it was not. */
  merged: z.array(z.strictObject({ runId: z.string(), shard })).optional(),
  /** What the run may spend; null or absent: no limit. */
  budgetMicroUsd: z.number().int().nonnegative().nullish(),
})

const planned = z.strictObject({
  kind: z.literal('plan'),
  plan,
  fingerprint: digest,
  selection,
  /** The whole campaign is skipped by hand. */
  skipped: z.boolean(),
  /** SHA-256 of every file behind the campaign, by path below the project: what the fingerprint's code digest is of. */
  code: z.record(z.string(), z.string()).optional(),
})

/** Durable before the cell's first byte to a network: from here on money may have been spent. */
const admitted = z.strictObject({
  kind: z.literal('admitted'),
  cellId,
  attempt,
  lane: z.string().nullable(),
  at,
  /** Under a budget: what is held for the cell. It stays spent while nobody knows the bill. */
  heldMicroUsd: z.number().int().nonnegative().optional(),
  /** The lane the cell was sent to in place of the declared one, an `equivalent` of it. */
  failover: z.string().optional(),
})

// What JSON.parse gave is JSON; walking a large output to say so again would only cost time.
const json = z.custom<Json>((value) => value !== undefined, { error: 'is missing' })

/** What the record of a cell says of its subject beside the output and the calls. */
const SubjectFacts = z.strictObject({
  startedAt: at,
  queueMs: z.number().nonnegative(),
  wallMs: z.number().nonnegative(),
  /** Of the output as the subject gave it, secrets and all. */
  digest,
  /** False: something in it was redacted, and what is journalled is not what the scorers saw. */
  faithful: z.boolean(),
  /** Live calls whose exchanges are in the raw capture. */
  calls: z.number().int().nonnegative(),
  metrics: z.record(z.string(), z.number()),
  tags: z.record(z.string(), z.string()),
  profile: AgentProfile.nullable(),
})
export type SubjectFacts = z.infer<typeof SubjectFacts>

/** The subject's output, before anything scores it: it is never bought again. */
const subjectSettled = z.strictObject({
  kind: z.literal('subject-settled'),
  cellId,
  attempt,
  /** Absent where it is too large for a line: then `file` holds it. */
  output: json.optional(),
  /** Name of a file in `outputs/` of the run folder: the SHA-256 of its bytes, which are the output as JSON. */
  file: z
    .string()
    .regex(/^[0-9a-f]{64}\.json$/)
    .optional(),
  subject: SubjectFacts.optional(),
  at,
})

/** What an attempt cost whose result does not last: all of it, or its judges beside an output that stays. */
const EarlierSpend = z.strictObject({
  cellId,
  attempt,
  part: z.enum(['all', 'judges']),
  calls: z.number().int().nonnegative(),
  microUsd: z.number().int().nonnegative(),
  unknownCalls: z.number().int().nonnegative(),
  boundMicroUsd: z.number().int().nonnegative().nullable(),
})
export type EarlierSpend = z.infer<typeof EarlierSpend>

/** The campaign goes on from an earlier run; before its plan, whose line makes the run answer for what was carried. */
const resumed = z.strictObject({
  kind: z.literal('resumed'),
  campaignId: z.string(),
  from: z.string(),
  /** When that run was started. */
  since: at,
  carried: z.number().int().nonnegative(),
  rescored: z.number().int().nonnegative(),
  /** Of this and all earlier runs that it goes on from. */
  spends: z.array(EarlierSpend),
})

/** What somebody says a cell was charged whose bill nobody knew: written by hand, after the run. */
const reconciled = z.strictObject({
  kind: z.literal('reconciled'),
  cellId,
  attempt,
  microUsd: z.number().int().nonnegative(),
  at,
})

/** Under a budget: what is charged and kept for a cell whose bill nobody knows, in place of what was held for it. */
const bill = z.strictObject({ kind: z.literal('bill'), cellId, keptMicroUsd: z.number().int().nonnegative() })

/** Where a budget stood when the run ended. */
const budget = z.strictObject({
  kind: z.literal('budget'),
  /** Null: the run's. */
  campaignId: z.string().nullable(),
  limitMicroUsd: z.number(),
  chargedMicroUsd: z.number(),
  heldMicroUsd: z.number(),
  unknownMicroUsd: z.number(),
  unknownCalls: z.number(),
  /** What calls were charged beyond what was held for them. */
  overshootMicroUsd: z.number(),
} satisfies { [key in keyof BudgetSnapshot]: unknown } & { kind: unknown })

/** What a campaign had asked of each lane when its report was computed; the last one counts. */
const lanes = z.strictObject({
  kind: z.literal('lanes'),
  campaignId: z.string(),
  lanes: z.array(
    z.strictObject({
      lane: z.string(),
      account: z.string().nullable(),
      requests: z.number(),
      peak: z.number(),
      concurrency: z.number(),
      throttled: z.number(),
      faults: z.number(),
      waitedMs: z.strictObject({
        cells: z.number(),
        slots: z.number(),
        pace: z.number(),
        hold: z.number(),
        budget: z.number(),
        'first-cell': z.number(),
      }),
      closed: z.strictObject({ reason: z.enum(CLOSURES), detail: z.string() }).nullable(),
    } satisfies { [key in keyof LaneTraffic]: unknown }),
  ),
})

const settled = z.strictObject({ kind: z.literal('settled'), record: RunRecord })

/** What a gate with `accepted()` compares with; a copy of the file lies in the run folder. */
const accepted = z.strictObject({
  kind: z.literal('accepted'),
  campaignId: z.string(),
  /** The committed file, relative to the project root. */
  file: z.string(),
  /** Of its text. */
  digest: z.string(),
})

/** The preregistration of a campaign, as it was found before anything ran. */
const prereg = z.strictObject({ kind: z.literal('prereg'), campaignId: z.string(), registration: Registration })

/** How often the scenarios of a preregistered release gate have been looked at. */
const look = z.strictObject({
  kind: z.literal('look'),
  campaignId: z.string(),
  used: z.number().int().positive(),
  /** One-sided error rate spent by this look and those before it. */
  spent: z.number(),
  /** When the same answers were first looked at; null or absent: now. */
  since: z.iso.datetime().nullish(),
})

const problem = z.strictObject({
  kind: z.literal('problem'),
  /** Null: a problem of the run. */
  campaignId: z.string().nullable(),
  code: z.string(),
  text: z.string(),
})

const verdict = z.strictObject({
  kind: z.literal('verdict'),
  campaignId: z.string(),
  /** Null where the campaign declares no gate. */
  outcome: z.enum(OUTCOMES).nullable(),
  word: z.enum(['PASS', 'FAIL', 'NO VERDICT']),
  reportDigest: z.string(),
})

/** Another run has taken the folder and goes on with a campaign of it: nothing follows but its like. */
const fenced = z.strictObject({ kind: z.literal('fenced'), by: z.string(), campaignId: z.string(), at })

export const END_REASONS = ['finished', 'interrupted'] as const
const end = z.strictObject({ kind: z.literal('end'), reason: z.enum(END_REASONS) })

/** What one line of the journal says. */
export const JournalEntry = z.discriminatedUnion('kind', [
  run,
  planned,
  admitted,
  subjectSettled,
  settled,
  reconciled,
  bill,
  budget,
  lanes,
  accepted,
  prereg,
  look,
  problem,
  verdict,
  resumed,
  fenced,
  end,
])
export type JournalEntry = z.infer<typeof JournalEntry>
export type EntryKind = JournalEntry['kind']
export type EntryOf<Kind extends EntryKind> = Extract<JournalEntry, { kind: Kind }>

/**
 * An entry that is JSON text already: records arrive as text from the threads that built them, and making objects of
 * tens of thousands of them only to write them out again is what a run would spend most on.
 */
export interface WrittenEntry {
  readonly kind: EntryKind
  /** The entry as JSON, `kind` included. */
  readonly json: string
}

/** The `settled` entry of a record that is JSON text. */
export function settledEntry(record: string): WrittenEntry {
  return { kind: 'settled', json: `{"kind":"settled","record":${record}}` }
}
