import { percent, plural } from '../report/numbers.ts'
import type { CampaignReport } from '../report/report.ts'

/** Outcomes of a comparison that only says that the accepted records are no longer of this campaign. */
const OPEN: ReadonlySet<string> = new Set(['inconclusive', 'underpowered'])

/**
 * Why the records behind a report must not become the accepted ones: what a gate refuses. A gate that is red because
 * the old accepted records no longer fit is no reason: accepting is then what mends it. Empty: nothing stands in the way.
 *
 * @param usesAccepted the gate compares with accepted records
 */
export function obstaclesToAccept(report: CampaignReport, usesAccepted: boolean): string[] {
  const { design, verdict, coverage } = report
  const obstacles: string[] = []
  const stale =
    usesAccepted && (design.accepted === null || design.accepted.arms.some(({ mismatches }) => mismatches.length > 0))
  const invalid = verdict.outcome === 'invalid' || verdict.exitCode === 2
  if (invalid || verdict.gate === 'none') {
    const reasons = verdict.reasons.filter(({ code }) => code !== 'accepted_unpaired' && code !== 'incomplete')
    obstacles.push(...reasons.map(({ text }) => text))
  }
  const own = report.variants.filter(({ id }) => design.accepted?.arms.every((arm) => arm.id !== id) ?? true)
  for (const { id, coverage: share } of own) {
    if (share < design.coverageFloor)
      obstacles.push(
        `${id} is incomplete: ${percent(share)} of its cells measured, ${percent(design.coverageFloor)} required`,
      )
  }
  if (coverage.counts.capture_error > 0) {
    const count = coverage.counts.capture_error
    obstacles.push(`${plural(count, 'cell')} failed an integrity check: nobody knows what was measured there`)
  }
  const bugs = report.failures.find(({ class: of, mode }) => of === 'unknown' && mode === 'error')
  if (bugs !== undefined)
    obstacles.push(`${plural(bugs.count, 'cell')} ended in an error of the code: ${bugs.example ?? ''}`)
  if (verdict.red && !invalid) {
    const red = report.candidates.filter(({ outcome }) => outcome !== 'ship' && !(stale && OPEN.has(outcome)))
    for (const { reasons, outcome, rule } of red) {
      if (outcome === 'hold' && verdict.gate === 'pr') continue
      obstacles.push(`the gate is red (${outcome}, rule ${rule}): ${reasons[0]?.text ?? verdict.headline}`)
    }
  }
  return [...new Set(obstacles)]
}
