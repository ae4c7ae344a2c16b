import type { ScenarioChange } from '../../core/report/candidate-report.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import { inline } from '../inline.ts'
import { plural, type Scale } from '../numbers.ts'
import { rerunCommand } from '../rerun.ts'
import { bySeverity } from '../sentences.ts'
import { type Line, plain, type Span } from './line.ts'
import { type Section, section } from './page.ts'
import type { Sheet } from './sheet.ts'
import { type Column, table } from './table.ts'
import { cutMiddle } from './width.ts'

const WORST = 5

/** The scenarios of the worst candidate that lost most, and how to run one again; verbose: of every candidate. */
export function worst(report: CampaignReport, sheet: Sheet): Section[] {
  const touched = bySeverity(report.candidates).filter(
    ({ worst: list, mustPass }) => losses(list).length + mustPass.broken.length > 0,
  )
  return touched.slice(0, sheet.verbose ? undefined : 1).map((candidate) => {
    const { id, mustPass, changed, worst: list } = candidate
    const comparator = report.design.comparator
    const shown = losses(list).slice(0, sheet.verbose ? undefined : WORST)
    const columns: Column[] = [
      { align: 'left', least: 16 },
      { align: 'right', least: 10 },
      { align: 'right', least: 10 },
      { align: 'right' },
      ...(shown.some(flaky) ? [{ align: 'left', least: 5 } as const] : []),
    ]
    const rows: Span[][] = [
      [
        { text: `WORST CHANGES (${inline(id)})` },
        { text: comparator === null ? '' : inline(comparator), tone: 'quiet' },
        { text: inline(id), tone: 'quiet' },
        { text: sheet.scale.unit === 'pp' ? 'diff pp' : 'diff', tone: 'quiet' },
      ],
      ...shown.map((change): Span[] => [
        { text: `  ${inline(change.scenario)}` },
        { text: arm(change.comparator, change.comparatorSeeds, sheet.scale) },
        { text: arm(change.candidate, change.candidateSeeds, sheet.scale) },
        { text: change.delta === null ? '' : sheet.scale.difference(change.delta) },
        { text: flaky(change) ? 'flaky' : '' },
      ]),
    ]
    const [head = [], ...lines] = table(columns, rows, sheet.width, sheet.ellipsis)
    const broken = mustPass.broken.map(({ scenario, failedSeeds }): Line[] => [
      [
        { text: `  must-pass broken: ${cutMiddle(inline(scenario), 36, sheet.ellipsis)}`, tone: 'bad' },
        { text: `  seeds ${failedSeeds.join(', ')}` },
      ],
    ])
    const example = mustPass.broken[0]?.scenario ?? shown[0]?.scenario ?? ''
    const start = '  rerun one: '
    const command = rerunCommand(example, {
      project: sheet.project,
      root: sheet.root,
      width: sheet.width - start.length,
    })
    const unseen = changed.worse - shown.length
    const rest = [
      ...(unseen > 0 ? [`${unseen} more worse`] : []),
      `${changed.better} better`,
      `${changed.same} unchanged`,
      ...(changed.missing > 0 ? [`${changed.missing} missing`] : []),
    ]
    const others =
      touched.length > 1 && !sheet.verbose ? `; ${plural(touched.length - 1, 'candidate')} more with losses` : ''
    return section({
      head: [head],
      groups: [...broken, ...lines.map((line) => [line])],
      tail: [plain(`  ${comparator === null ? '' : `${rest.join(', ')}${others}`}`), plain(start + command)].filter(
        ([span]) => span?.text.trim() !== '',
      ),
      fair: 6,
      least: 1,
      noun: ['scenario', 'scenarios'],
      spaced: true,
    })
  })
}

/** Seeds disagree in either arm: a re-run may look otherwise. */
function flaky({ flaky: { comparator, candidate } }: ScenarioChange): boolean {
  return comparator || candidate
}

function losses(changes: readonly ScenarioChange[]): ScenarioChange[] {
  return changes.filter(({ delta }) => delta === null || delta < 0)
}

function arm(mean: number | null, seeds: string, scale: Scale): string {
  if (mean === null) return seeds === '' ? '' : inline(seeds, 40)
  return seeds === '' ? scale.value(mean) : `${inline(seeds, 40)} ${scale.value(mean)}`
}
