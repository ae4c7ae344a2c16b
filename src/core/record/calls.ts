import { NotJsonError } from '../campaign/canonical-json.ts'
import { type Digest, digestOf } from '../campaign/identity.ts'
import type { CallRole, Exchange, WireReading } from '../traffic/exchange.ts'
import type { RunRecord } from './record.ts'
import { type CellTokens, type CostProvenance, type MicroUsd, NO_USAGE, type TokenUsage, toUsd } from './usage.ts'

/** What one call was charged; null micro-USD: nobody knows. */
export interface CallCost {
  readonly microUsd: MicroUsd | null
  readonly provenance: CostProvenance
}

/** One exchange of a cell, as far as its record needs it. */
export interface CellCall extends Pick<Exchange, 'role' | 'source' | 'startedAt' | 'totalMs' | 'retried'> {
  /** Null: no call to a model provider. */
  readonly reading: WireReading | null
  /** Ignored for calls that cannot be billed: no reading, or mocked. */
  readonly cost: CallCost | null
}

/** A call to a model provider, live or replayed. What a mock answers is never one. */
export interface ProviderCall extends CellCall {
  readonly reading: WireReading
}

export function providerCalls(calls: readonly CellCall[]): ProviderCall[] {
  return calls.filter((call): call is ProviderCall => call.reading !== null && call.source !== 'mocked')
}

/** A refused request is not billed; one whose answer broke off or got lost may have been. */
const mayBeBilled = ({ reading }: ProviderCall) => reading.usageMissing !== 'error-response'

/** Sums what is known. `known` is false when a call that should have reported its usage did not. */
export function tokensOf(calls: readonly ProviderCall[]): CellTokens {
  let total: TokenUsage = NO_USAGE
  let known = true
  for (const call of calls) {
    if (call.reading.usage !== null) total = addUsage(total, soundUsage(call.reading.usage))
    else if (mayBeBilled(call)) known = false
  }
  return { ...total, known }
}

function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: add(a.input, b.input),
    output: add(a.output, b.output),
    reasoning: add(a.reasoning, b.reasoning),
    cacheRead: add(a.cacheRead, b.cacheRead),
    cacheWrite: add(a.cacheWrite, b.cacheWrite),
  }
}

const add = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : a + b)

/** Drops counts that are none, and parts that exceed or lack their whole: a provider's slip must not enter a sum. */
function soundUsage(usage: TokenUsage): TokenUsage {
  const input = countOf(usage.input)
  const output = countOf(usage.output)
  const reasoning = countOf(usage.reasoning)
  const cacheRead = countOf(usage.cacheRead)
  const cacheWrite = countOf(usage.cacheWrite)
  const cacheFits = input !== null && (cacheRead ?? 0) + (cacheWrite ?? 0) <= input
  return {
    input,
    output,
    reasoning: output !== null && (reasoning ?? 0) <= output ? reasoning : null,
    cacheRead: cacheFits ? cacheRead : null,
    cacheWrite: cacheFits ? cacheWrite : null,
  }
}

const countOf = (
  count: number | null, // Adding 0 turns −0, which JSON cannot say, into 0.
) => (count !== null && Number.isSafeInteger(count) && count >= 0 ? count + 0 : null)

/**
 * The bill of a cell. A part with a call of unknown charge is null, and so is the whole. `blind` says that calls may
 * have been made that nobody saw (capture off, a lost worker, a subject that reaches its model through another host).
 */
export function costOf(calls: readonly ProviderCall[], blind: { subject: boolean; judge: boolean }): RunRecord['cost'] {
  const subject = blind.subject ? null : sumOf(calls, 'subject')
  const judge = blind.judge ? null : sumOf(calls, 'judge')
  const setup = sumOf(calls, 'setup')
  const total = subject === null || judge === null || setup === null ? null : subject + judge + setup
  const provenance = calls.some((call) => mayBeBilled(call) && call.cost?.provenance === 'estimated')
    ? 'estimated'
    : 'observed'
  return {
    usd: total === null ? null : toUsd(total),
    provenance: total === null ? 'uncaptured' : provenance,
    subjectUsd: subject === null ? null : toUsd(subject),
    judgeUsd: judge === null ? null : toUsd(judge),
  }
}

function sumOf(calls: readonly ProviderCall[], role: CallRole): MicroUsd | null {
  let sum = 0
  for (const call of calls) {
    if (call.role !== role) continue
    if (call.cost !== null && call.cost.microUsd !== null) sum += call.cost.microUsd
    else if (mayBeBilled(call)) return null
  }
  return sum
}

export function countsOf(calls: readonly CellCall[]): RunRecord['calls'] {
  const counts = { subject: 0, judge: 0, setup: 0, retried: 0, mocked: 0 }
  for (const { role, source, reading, retried } of calls) {
    counts.retried += retried
    if (source === 'mocked') counts.mocked += 1
    else if (reading !== null) counts[role] += 1
  }
  return counts
}

/** Where the answers came from. Mocked ones do not count: they are the same live and replayed. */
export function provenanceOf(calls: readonly CellCall[]): 'live' | 'replayed' | 'mixed' {
  const live = calls.some(({ source }) => source === 'live')
  const replayed = calls.some(({ source }) => source === 'replayed')
  if (!replayed) return 'live'
  return live ? 'mixed' : 'replayed'
}

/** The oldest instant of the replayed calls: evidence is as old as its oldest part. */
export function recordedAtOf(calls: readonly CellCall[]): string | null {
  let oldest: string | null = null
  for (const { source, startedAt } of calls) {
    if (source === 'replayed' && (oldest === null || startedAt < oldest)) oldest = startedAt
  }
  return oldest
}

/** Models asked for and models that answered, sorted. */
export function modelsOf(calls: readonly ProviderCall[], role: CallRole): RunRecord['model'] {
  const requested = new Set<string>()
  const served = new Set<string>()
  for (const { role: by, reading } of calls) {
    if (by !== role) continue
    if (reading.requestedModel !== null) requested.add(reading.requestedModel)
    if (reading.servedModel !== null) served.add(reading.servedModel)
  }
  return { requested: [...requested].sort(), served: [...served].sort() }
}

/** Digest of the prompt of the subject's first call; null where the wire shows none. */
export function promptHashOf(calls: readonly ProviderCall[]): Digest | null {
  const first = calls.find(({ role }) => role === 'subject')
  if (first === undefined || first.reading.prompt === null || first.reading.prompt === undefined) return null
  try {
    return digestOf(first.reading.prompt)
  } catch (error) {
    // A body may escape half a surrogate pair: readable JSON without a canonical form.
    if (error instanceof NotJsonError) return null
    throw error
  }
}
