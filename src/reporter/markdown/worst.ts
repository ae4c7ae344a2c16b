import type { CandidateReport, ScenarioChange } from '../../core/report/candidate-report.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import { plural, type Scale } from '../numbers.ts'
import { code, grid, text } from './text.ts'

/** What a candidate gave where it lost most; null: nobody knows. */
export type OutputOf = (candidate: string, scenario: string) => string | null

/** The scenarios that a candidate lost most on, and the must-pass ones it broke. */
export function worst(
  report: CampaignReport,
  candidate: CandidateReport,
  scale: Scale,
  rows: number,
  outputOf?: OutputOf,
): string {
  const { mustPass } = candidate
  const losses = lost(candidate)
  if (losses.length + mustPass.broken.length === 0) return ''
  const comparator = report.design.comparator
  const shown = losses.slice(0, rows)
  return [
    mustPass.broken
      .slice(0, rows)
      .map(({ scenario, failedSeeds }) => `- **must-pass broken**: ${code(scenario)}, seeds ${failedSeeds.join(', ')}`)
      .join('\n'),
    shown.length === 0
      ? ''
      : grid(
          [
            ['scenario', 'left'],
            [comparator === null ? 'comparator' : code(comparator), 'right'],
            [code(candidate.id), 'right'],
            [scale.unit === 'pp' ? 'difference, pp' : 'difference', 'right'],
            ...(outputOf === undefined ? [] : ([[`output of ${code(candidate.id)}`, 'left']] as const)),
          ],
          shown.map((change) => [
            code(change.scenario),
            arm(change, 'comparator', scale),
            arm(change, 'candidate', scale),
            change.delta === null ? '' : scale.difference(change.delta),
            ...(outputOf === undefined ? [] : [output(outputOf(candidate.id, change.scenario))]),
          ]),
        ),
    losses.length > shown.length ? `${losses.length - shown.length} more are in the JSON report.` : '',
    comparator === null ? '' : `${moved(candidate)}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** How many scenarios moved, in words. */
export function moved({ changed }: CandidateReport): string {
  return `${plural(changed.worse, 'scenario')} worse, ${changed.better} better, ${changed.same} unchanged, ${changed.missing} missing`
}

/** Scenarios that a candidate lost, largest loss first. */
export function lost({ worst: changes }: CandidateReport): ScenarioChange[] {
  return changes.filter(({ delta }) => delta === null || delta < 0)
}

function output(preview: string | null): string {
  return preview === null ? '' : code(preview, 120)
}

function arm(change: ScenarioChange, side: 'comparator' | 'candidate', scale: Scale): string {
  const mean = change[side]
  const seeds = side === 'comparator' ? change.comparatorSeeds : change.candidateSeeds
  return [seeds === '' ? '' : text(seeds, 60), mean === null ? '' : scale.value(mean)]
    .filter((part) => part !== '')
    .join(', ')
}
