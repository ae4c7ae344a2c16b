import type { Shard } from '../../core/campaign/shard.ts'
import type { MicroUsd } from '../../core/record/usage.ts'
import type { ResolvedOptions } from '../options.ts'
import type { CampaignState } from './campaign-state.ts'
import type { ModuleSource } from './code-digest.ts'
import type { Policy } from './policy.ts'

/** What a run is told when it opens. */
export interface RunContext {
  readonly root: string
  readonly projectName: string
  readonly options: ResolvedOptions
  /** Failing tests after which nothing new starts; 0: never. */
  readonly bail: number
  /** As the workers have it, without placeholders. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly policy: Policy
  /** Of the whole run; null: none. */
  readonly budget: MicroUsd | null
  readonly modules: ModuleSource
  /** The part of the cells that is run here; null: all. */
  readonly shard: Shard | null
  /** Null: the run begins afresh, whatever earlier ones left undone. */
  readonly resume: {
    /** Cells with side effects that an earlier run was cut off in may run again. */
    readonly reconciled: boolean
    /** Tells the user at once. */
    say(line: string): void
  } | null
  /** Says what campaigns will take, before the first of their cells runs; null: nobody wants to know. Never throws. */
  readonly foretell: ((states: readonly CampaignState[], runId: string) => Promise<void>) | null
  readonly versions: { readonly node: string; readonly vitest: string; readonly package: string }
}
