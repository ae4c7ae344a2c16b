import { recordAt } from './arm.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import type { CampaignReport } from './report.ts'

/** Whether a provider stood behind the numbers: cells flagged as answered by a stub against cells that made calls. */
export function integrityOf(cells: Cells): CampaignReport['integrity'] {
  const issues = new Map<string, { code: string; severity: 'error' | 'warn'; count: number; example: string }>()
  let called = 0
  let stubbed = 0
  for (const record of cells.records) {
    if (record === undefined) continue
    const { subject, judge } = record.calls
    const stub = record.integrity.issues.some((issue) => issue.code === 'stub_backend')
    if (stub) stubbed++
    if (stub || subject + judge > 0) called++
    for (const { code, severity, message } of record.integrity.issues) {
      const key = `${severity} ${code}`
      const known = issues.get(key)
      if (known === undefined) issues.set(key, { code, severity, count: 1, example: message })
      else known.count++
    }
  }
  const backend = called === 0 ? 'none' : stubbed === 0 ? 'real' : stubbed === called ? 'stub' : 'mixed'
  // "error" sorts before "warn".
  return { backend, issues: [...issues.keys()].sort(byCodeUnit).flatMap((key) => issues.get(key) ?? []) }
}

export function evidenceOf(cells: Cells): CampaignReport['evidence'] {
  const counts = { live: 0, replayed: 0, mixed: 0, carried: 0, silent: 0 }
  let from: string | null = null
  let to: string | null = null
  for (const record of cells.records) {
    if (record === undefined || record.attempts === 0) continue
    // Nothing of a provider is in it: neither fresh nor old.
    const { subject, judge, setup } = record.calls
    counts[record.provenance === 'live' && subject + judge + setup === 0 ? 'silent' : record.provenance]++
    const { recordedAt } = record
    if (recordedAt === null) continue
    if (from === null || recordedAt < from) from = recordedAt
    if (to === null || recordedAt > to) to = recordedAt
  }
  return { ...counts, recordedFrom: from, recordedTo: to }
}

/** Why cells have no value, by reason; a planned cell without any record is `missing`. */
export function missingReasons(cells: Cells): { readonly [reason: string]: number } {
  const reasons = new Map<string, number>()
  for (let at = 0; at < cells.records.length; at++) {
    const record = cells.records[at]
    const reason = record === undefined ? 'missing' : record.reason
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return Object.fromEntries([...reasons.keys()].sort(byCodeUnit).map((reason) => [reason, reasons.get(reason) ?? 0]))
}

/**
 * Every scenario of every variant was scored with all seeds, of which there are several, on byte-identical outputs. A
 * cell without a scored output says nothing about its seed.
 */
export function seedsIdentical(cells: Cells): boolean {
  if (cells.seeds.length < 2) return false
  return cells.variants.every((_, variant) =>
    cells.scenarios.every((_scenario, scenario) => {
      const digests = cells.seeds.map((_seed, seed) => {
        const record = recordAt(cells, variant, scenario, seed)
        return record?.status === 'scored' ? (record.output?.digest ?? null) : null
      })
      return digests[0] !== null && digests.every((digest) => digest === digests[0])
    }),
  )
}

/**
 * Whether two variants gave byte-identical outputs in every cell, and whether their prompts were identical too: then
 * nothing was changed, and scores that differ measure the scorer. A missing cell or an unknown prompt is not identical.
 */
export function sameTraffic(
  cells: Cells,
  one: number,
  other: number,
): { readonly outputs: boolean; readonly prompts: boolean } {
  let prompts = true
  for (let scenario = 0; scenario < cells.scenarios.length; scenario++) {
    for (let seed = 0; seed < cells.seeds.length; seed++) {
      const a = recordAt(cells, one, scenario, seed)
      const b = recordAt(cells, other, scenario, seed)
      if (a?.output == null || a.output.digest !== b?.output?.digest) return { outputs: false, prompts: false }
      if (a.promptHash === null || a.promptHash !== b.promptHash) prompts = false
    }
  }
  return { outputs: true, prompts }
}

/** Names of judges that were not one and the same instrument for both arms, with what differs. */
export function differingJudges(cells: Cells): string[] {
  const judges = new Map<string, { digests: Set<string>; models: Map<string, Set<string>> }>()
  for (const record of cells.records) {
    if (record === undefined) continue
    for (const [name, { model, digest }] of Object.entries(record.judges)) {
      const known = judges.get(name) ?? { digests: new Set(), models: new Map() }
      judges.set(name, known)
      known.digests.add(digest)
      if (model !== null)
        known.models.set(record.variantId, (known.models.get(record.variantId) ?? new Set()).add(model))
    }
  }
  return [...judges.keys()].sort(byCodeUnit).flatMap((name) => {
    const { digests, models } = judges.get(name) ?? { digests: new Set(), models: new Map<string, Set<string>>() }
    if (digests.size > 1) return [`judge ${name} was configured in ${digests.size} ways`]
    const sets = new Set([...models.values()].map((set) => [...set].sort(byCodeUnit).join(', ')))
    if (sets.size > 1)
      return [`judge ${name} was answered by different models: ${[...sets].sort(byCodeUnit).join(' | ')}`]
    return []
  })
}
