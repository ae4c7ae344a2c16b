import { z } from 'zod'
import type { Json } from '../campaign/canonical-json.ts'
import { Registration } from '../prereg/registration.ts'
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
})

const planned = z.strictObject({
  kind: z.literal('plan'),
  plan,
  fingerprint: digest,
  selection,
  /** The whole campaign is skipped by hand. */
  skipped: z.boolean(),
})

/** Durable before the cell's first byte to a network: from here on money may have been spent. */
const admitted = z.strictObject({ kind: z.literal('admitted'), cellId, attempt, lane: z.string().nullable(), at })

/** The subject's output, before anything scores it: it is never bought again. */
const subjectSettled = z.strictObject({
  kind: z.literal('subject-settled'),
  cellId,
  attempt,
  // What JSON.parse gave is JSON; walking a large output to say so again would only cost time.
  output: z.custom<Json>((value) => value !== undefined, { error: 'is missing' }),
  at,
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

/** Another run has taken the folder and goes on with what is in it: nothing follows but its like. */
const fenced = z.strictObject({ kind: z.literal('fenced'), by: z.string(), at })

export const END_REASONS = ['finished', 'interrupted'] as const
const end = z.strictObject({ kind: z.literal('end'), reason: z.enum(END_REASONS) })

/** What one line of the journal says. */
export const JournalEntry = z.discriminatedUnion('kind', [
  run,
  planned,
  admitted,
  subjectSettled,
  settled,
  accepted,
  prereg,
  look,
  problem,
  verdict,
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
