import type { AsyncLocalStorage } from 'node:async_hooks'
import type { BirpcReturn } from 'birpc'
import type { Campaign } from '../../core/campaign/load.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import type {
  CarriedCell,
  CellFunctions,
  LeaseReply,
  MainFunctions,
  PlanReply,
  WorkerFunctions,
  WorkerSettings,
} from '../control.ts'
import type { Clock } from '../replay/clock.ts'
import type { Scope } from '../replay/scope.ts'
import type { Traffic } from '../replay/traffic.ts'
import type { JudgeLine } from './judge-lease.ts'

/** A campaign of this thread's eval file. */
export interface RegisteredCampaign {
  readonly campaign: Campaign
  /** Of this shard; all of them where there is none. */
  readonly cells: readonly PlannedCell[]
  /** Declared with `.skip`. */
  readonly skip: boolean
  /** Stack of the evalCampaign() call, for errors that belong to the campaign. */
  readonly site: string
  /** Set once the plan is accepted by the main process. */
  planned: { readonly run: PlanReply['run']; readonly fingerprint: string } | null
  /** Why the main process refused the campaign. */
  refused: string | null
}

/** Name of the one test of a campaign whose definition cannot be used. */
export const BROKEN_TEST = 'definition'

/** Name of the test after the cells, which shows the verdict. */
export const verdictTest = ({ gate }: { readonly gate: object | null }): 'gate' | 'coverage' =>
  gate === null ? 'coverage' : 'gate'

/** A campaign whose definition cannot be used: one failing test, beside the other campaigns of its file. */
export interface BrokenCampaign {
  readonly campaignId: string
  readonly error: Error
  readonly skip: boolean
}

export type GrantedLease = Extract<LeaseReply, { granted: true }>

/** What a Vitest test of the file stands for. */
export type Binding =
  | {
      readonly kind: 'cell'
      readonly registered: RegisteredCampaign
      readonly cell: PlannedCell
      lease: GrantedLease | null
      /** Set where an earlier run settled it: it takes no lease and runs nothing. */
      carried: CarriedCell | null
      settled: boolean
    }
  | { readonly kind: 'gate'; readonly registered: RegisteredCampaign }
export type CellBinding = Extract<Binding, { kind: 'cell' }>

export interface CellInFlight {
  /** The run ends the cell. */
  abort(reason: string): void
  /** Takes an error that nobody caught in the cell's context. */
  uncaught(error: unknown): void
}

/**
 * The state of a campaign worker thread. The runner, the entry and the module an eval file imports are loaded by
 * different loaders (Node's and Vite's), so that they share state through the global object or not at all.
 */
export interface WorkerBridge {
  readonly settings: WorkerSettings
  /** Null while tests are only collected. */
  readonly control: BirpcReturn<MainFunctions, WorkerFunctions> | null
  /** Null as `control`. */
  readonly calls: CellFunctions | null
  readonly traffic: Traffic | null
  /** Null as `control`. */
  readonly judges: JudgeLine | null
  /** In the order declared, like `broken`. */
  readonly campaigns: RegisteredCampaign[]
  readonly broken: BrokenCampaign[]
  /** Not weak: the tests live as long as the thread, and a WeakMap of this size is walked by every collection. */
  readonly bindings: Map<object, Binding>
  /** Absolute path of the eval file in hand. */
  file: string | null
  /** Vitest cancelled the run: nothing new may start. */
  cancelled: boolean
  readonly inFlight: Map<string, CellInFlight>
  /** The cell in whose name the caller runs. */
  readonly scopes: AsyncLocalStorage<Scope>
  readonly redactor: Redactor
  /** Real time, taken before any module of the user was loaded: they may fake theirs. */
  readonly clock: Clock
}

const KEY = Symbol.for('vitest-campaign.worker@1')

export function setBridge(bridge: WorkerBridge): void {
  Reflect.set(globalThis, KEY, bridge)
}

/** The bridge of this thread, or null outside the campaign pool. */
export function findBridge(): WorkerBridge | null {
  return (Reflect.get(globalThis, KEY) as WorkerBridge | undefined) ?? null
}

/** @throws Error saying how to configure the pool */
export function requireBridge(what: string): WorkerBridge {
  const bridge = findBridge()
  if (bridge === null) {
    throw new Error(
      `${what} works only in the campaign pool. Add evals() from 'vitest-campaign/plugin' to test.projects ` +
        'and name the file *.eval.ts, so that the evals project runs it and no other project includes it.',
    )
  }
  return bridge
}
