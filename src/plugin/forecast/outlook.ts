import { join } from 'node:path'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { CellOutlook } from '../../core/report/run-forecast.ts'
import type { CampaignState } from '../pool/campaign-state.ts'
import type { Policy } from '../pool/policy.ts'
import { findRecording, type LookedFor } from '../replay/disk.ts'
import { recordingPlace } from '../replay/path.ts'

/** What an earlier run leaves of the cells of a campaign; cells that are in none of these run or replay. */
export interface Left {
  readonly carried: { has(cellId: string): boolean }
  readonly rescored: { has(cellId: string): boolean }
  readonly held: { has(cellId: string): boolean }
}

const NONE: ReadonlySet<string> = new Set()
export const NOTHING_LEFT: Left = { carried: NONE, rescored: NONE, held: NONE }

export interface Outlook {
  readonly cells: CellOutlook
  /** Of each variant, cells that call something: their subjects too, or their judges alone. */
  readonly byVariant: ReadonlyMap<string, { readonly live: number; readonly rescored: number }>
}

/** What becomes of each cell that this run executes. Looks recordings up where that makes a difference. */
export function outlookOf(state: CampaignState, left: Left, policy: Policy, root: string): Outlook {
  const { cells, selected, plan, skipped, plannedHere } = state
  const counts = { carried: 0, rescored: 0, held: 0, replayed: 0, live: 0 }
  const lookedFor: LookedFor = new Map()
  const byVariant = new Map(plan.variants.map(({ id }) => [id, { live: 0, rescored: 0 }]))
  for (const cell of skipped ? [] : cells.values()) {
    const { cellId, variant } = cell
    if (selected !== null && !selected.has(cellId)) continue
    const kind = left.carried.has(cellId)
      ? 'carried'
      : left.rescored.has(cellId)
        ? 'rescored'
        : left.held.has(cellId)
          ? 'held'
          : isServed(plan, cell, policy, root, lookedFor)
            ? 'replayed'
            : 'live'
    counts[kind]++
    const own = byVariant.get(variant.id)
    if (own !== undefined && (kind === 'live' || kind === 'rescored')) own[kind]++
  }
  return { cells: { planned: cells.size, here: plannedHere, ...counts }, byVariant }
}

function isServed(
  plan: CampaignState['plan'],
  cell: PlannedCell,
  { traffic }: Policy,
  root: string,
  lookedFor: LookedFor,
): boolean {
  if (traffic === 'replay') return true
  if (traffic !== 'new' || plan.capture === 'off') return false
  const { campaignId, variant, scenario, seed } = cell
  const coordinates = { campaignId, variantId: variant.id, scenarioId: scenario.id, seed }
  try {
    return findRecording(recordingPlace(join(root, plan.file), coordinates), lookedFor) !== null
  } catch {
    // A link on the way: the cell says so when it opens.
    return false
  }
}
