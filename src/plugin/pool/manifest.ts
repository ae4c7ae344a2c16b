import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { writeAtomic } from './atomic-file.ts'
import type { CampaignState } from './campaign-state.ts'
import type { RunContext } from './run-context.ts'

const MANIFEST_SCHEMA = 'vitest-campaign/manifest@1'

/** What manifest.json says, for people and tools that do not want to read a journal. */
export interface Manifest {
  readonly runId: string
  readonly context: Pick<RunContext, 'projectName' | 'policy' | 'versions' | 'shard'>
  readonly commit: { readonly sha: string | null; readonly dirty: boolean }
  readonly startedAt: Date
  /** Null: the run goes on. */
  readonly end: 'finished' | 'interrupted' | null
  readonly campaigns: Iterable<CampaignState>
}

export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const { runId, context, commit, startedAt, end } = manifest
  const written = {
    schema: MANIFEST_SCHEMA,
    runId,
    project: context.projectName,
    startedAt: startedAt.toISOString(),
    endedAt: end === null ? null : new Date().toISOString(),
    end,
    policy: context.policy,
    ...(context.shard === null ? {} : { shard: context.shard }),
    commit,
    versions: context.versions,
    campaigns: Array.from(manifest.campaigns, (state) => ({
      campaignId: state.plan.campaignId,
      file: state.plan.file,
      fingerprint: state.fingerprint,
      planned: state.cells.size,
      recorded: state.settled.size,
      unfinished: state.unfinished,
      skipped: state.skipped,
      selected: state.selected === null ? 'all' : state.selected.size,
    })),
  }
  await writeAtomic(path, `${JSON.stringify(written, null, 2)}\n`)
}

/** What tells, without its journal, whether a later run may go on with a run. Older versions wrote less. */
const Summary = z.object({
  project: z.string(),
  end: z.enum(['finished', 'interrupted']).nullable(),
  policy: z.object({ traffic: z.string() }),
  campaigns: z.array(
    z.object({
      campaignId: z.string(),
      fingerprint: z.string(),
      /** Cells that a later run has to do. */
      unfinished: z.number(),
      skipped: z.boolean(),
      selected: z.union([z.literal('all'), z.number()]),
    }),
  ),
})
export type ManifestSummary = z.infer<typeof Summary>

/** Null where there is none, or none of this version: then the journal says what there is to say. */
export async function readManifest(path: string): Promise<ManifestSummary | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      return Summary.parse(JSON.parse(await file.readFile('utf8')))
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}
