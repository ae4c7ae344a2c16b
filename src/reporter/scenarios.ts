import type { RunRecord } from '../core/record/record.ts'

/** Longest output kept of a cell, code units: the whole of it is in the run's folder. */
const LONGEST = 600

/** The cell of a scenario that a reader should look at: the lowest score, then the first seed. */
export interface WorstCell {
  readonly cellId: string
  readonly seed: number
  readonly score: number | null
  /** Null where it has none. */
  readonly output: string | null
  /** Why: the failure's message, else the rationale of the primary score. */
  readonly why: string | null
}

/** What one variant did in one scenario, its seeds together. */
export interface ScenarioArm {
  readonly variant: string
  readonly scenario: string
  readonly cells: number
  /** Cells that count: scored, or failed by the subject. */
  readonly measured: number
  /** Of those, the ones known to have passed or failed, and those that passed. */
  readonly judged: number
  readonly passed: number
  /** Sum of the scores of scored cells, and how many they are. */
  readonly scoreSum: number
  readonly scores: number
  /** Why cells were not measured: status and message, in the order they came, each once. */
  readonly missing: ReadonlyMap<string, number>
  /** What makes the tests of its cells red: a capture that cannot be trusted, a bug in the user's code. */
  readonly faults: ReadonlyMap<string, number>
  /** What its cells took, milliseconds; null where no cell was timed. */
  readonly ms: number | null
  readonly worst: WorstCell | null
}

type Growing = { -readonly [K in keyof ScenarioArm]: ScenarioArm[K] } & {
  missing: Map<string, number>
  faults: Map<string, number>
  rank: number
}

/** Variants and scenarios of a campaign as their records tell them, in the order in which they come. */
export class ScenarioTable {
  readonly #arms = new Map<string, Growing>()

  /** One pass: records may come from a file, one by one. */
  constructor(records: Iterable<RunRecord>) {
    for (const record of records) this.#add(record)
  }

  get(variant: string, scenario: string): ScenarioArm | null {
    return this.#arms.get(keyOf(variant, scenario)) ?? null
  }

  arms(): Iterable<ScenarioArm> {
    return this.#arms.values()
  }

  #add(record: RunRecord): void {
    const { variantId: variant, scenarioId: scenario, status } = record
    const key = keyOf(variant, scenario)
    let arm = this.#arms.get(key)
    if (arm === undefined) {
      arm = { variant, scenario, ...NOTHING, missing: new Map(), faults: new Map() }
      this.#arms.set(key, arm)
    }
    arm.cells++
    const ms = record.wallMs ?? record.providerMs
    if (ms !== null) arm.ms = (arm.ms ?? 0) + ms
    const fault = faultOf(record)
    if (fault !== null) count(arm.faults, fault)
    if (status !== 'scored' && status !== 'task_fail') {
      count(arm.missing, `${status}: ${reasonOf(record)}`)
      return
    }
    arm.measured++
    const pass = status === 'task_fail' ? false : record.pass
    if (pass !== null) arm.judged++
    if (pass === true) arm.passed++
    if (record.score !== null) {
      arm.scores++
      arm.scoreSum += record.score
    }
    // A subject that failed gave nothing: below every score.
    const rank = record.score ?? -Infinity
    if (arm.worst !== null && rank >= arm.rank) return
    arm.rank = rank
    arm.worst = {
      cellId: record.cellId,
      seed: record.seed,
      score: record.score,
      output: record.output === null ? null : record.output.preview.slice(0, LONGEST),
      why: whyOf(record),
    }
  }
}

const NOTHING = {
  cells: 0,
  measured: 0,
  judged: 0,
  passed: 0,
  scoreSum: 0,
  scores: 0,
  ms: null,
  worst: null,
  rank: 0,
} as const

const keyOf = (variant: string, scenario: string): string => JSON.stringify([variant, scenario])

function count(into: Map<string, number>, text: string): void {
  const short = text.slice(0, LONGEST)
  into.set(short, (into.get(short) ?? 0) + 1)
}

/** What a cell's test is red for; null where it is not. */
function faultOf({ status, reason, failure, scores, integrity }: RunRecord): string | null {
  if (status === 'capture_error') {
    const found = integrity.issues.find(({ severity }) => severity === 'error')
    return found === undefined ? 'capture_error' : `${found.code}: ${found.message}`
  }
  if (reason === 'worker-lost') return `worker-lost: ${failure?.message ?? 'its thread is gone'}`
  if (status === 'task_fail' && failure?.class === 'unknown' && failure.mode === 'error') {
    return `run threw: ${failure.message ?? 'no message'}`
  }
  const scorer = Object.entries(scores).find(([, { role, error }]) => role === 'code' && error !== undefined)
  return scorer === undefined ? null : `scorer ${scorer[0]} threw: ${scorer[1].error ?? ''}`
}

function reasonOf({ failure, scores, reason, integrity }: RunRecord): string {
  if (failure !== null) return failure.message ?? failure.mode ?? failure.class
  const failed = Object.entries(scores).find(([, { error }]) => error !== undefined)
  if (failed !== undefined) return `${failed[0]}: ${failed[1].error ?? ''}`
  return reason ?? integrity.issues.find(({ severity }) => severity === 'error')?.code ?? 'no reason was given'
}

function whyOf({ failure, scores, score }: RunRecord): string | null {
  if (failure !== null) return (failure.message ?? failure.mode ?? failure.class).slice(0, LONGEST)
  // The primary score's name is not in a record: its value is.
  const said = Object.values(scores).find(({ value, rationale }) => value === score && rationale !== undefined)
  return said?.rationale?.slice(0, LONGEST) ?? null
}
