import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { countLook, type LookCount, nextLook } from '../../core/looks/count.ts'
import type { Evidence } from '../../core/looks/evidence.ts'
import { type Ledger, type Look, lookedAt, lookLine, parseLedger } from '../../core/looks/ledger.ts'
import { alphaPerLook } from '../../core/stats/sequence/alpha-spending.ts'
import { folderOf, readRecording } from '../replay/disk.ts'
import { baselineName, baselinePlace } from './baselines.ts'

/**
 * `__baselines__/<campaign>.looks.jsonl`: every confirmatory look at a campaign's holdout, appended and never taken
 * back.
 */
export class LookLedger {
  readonly #plan: CampaignPlan
  readonly #root: string
  readonly #name: string

  constructor(root: string, plan: CampaignPlan) {
    this.#root = root
    this.#plan = plan
    this.#name = baselineName(plan, 'looks.jsonl')
  }

  /** @throws LedgerError naming file and line */
  async read(): Promise<Ledger & { readonly bytes: number }> {
    const text = (await readRecording(baselinePlace(this.#root, this.#plan, 'looks.jsonl'))) ?? ''
    return { ...parseLedger(text, this.#name), bytes: Buffer.byteLength(text) }
  }

  /**
   * Counts a look. The same evidence is the same look, and a replay is none of its own: it is appended only where
   * something was measured now.
   */
  async count(evidence: Evidence, facts: { readonly prereg: string; readonly runId: string }): Promise<LookCount> {
    const { gate, campaignId } = this.#plan
    const scenarios = lookedAt(this.#plan)
    const alpha = alphaPerLook(gate?.alpha ?? 0.025, gate?.looks ?? 1)
    const before = await this.read()
    const known = countLook(before.looks, scenarios, evidence)
    if (known !== null || !evidence.fresh) return known ?? nextLook(before.looks, scenarios, alpha)
    const look: Look = {
      campaignId,
      prereg: facts.prereg,
      scenarios,
      evidence: evidence.digest,
      alpha,
      at: new Date().toISOString(),
      runId: facts.runId,
    }
    await this.#append(
      `${before.unended ? '\n' : ''}${lookLine(look)}`,
      before.bytes > before.intactBytes ? before.intactBytes : null,
    )
    // Read again: another run may have looked at the same moment, and the order of the file is the order of the looks.
    const after = await this.read()
    return countLook(after.looks, scenarios, evidence) ?? nextLook(after.looks, scenarios, alpha)
  }

  async #append(line: string, cutAt: number | null): Promise<void> {
    const place = baselinePlace(this.#root, this.#plan, 'looks.jsonl')
    const folder = await folderOf(place)
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
    const file = await open(join(folder, place.file), flags, 0o600)
    try {
      // A line that was cut off while it was written: nobody was told of that look.
      if (cutAt !== null) await file.truncate(cutAt)
      await file.writeFile(line)
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
