import type { CampaignReport } from '../../core/report/report.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { inline } from '../inline.ts'
import { lost } from '../markdown/worst.ts'
import { PRINTED, plural, scaleOf } from '../numbers.ts'
import { bySeverity } from '../sentences.ts'

/** GitHub shows ten annotations of one level for a step, and hides the others without a word. */
export const MOST = 10
/** The runner cuts the text of an annotation at 4,096 characters. */
const LONGEST = 1_000

/** How an annotation stands beside the changed lines; the names are GitHub's. */
const LEVELS = ['error', 'warning', 'notice'] as const
type Level = (typeof LEVELS)[number]

export interface Annotated {
  readonly report: CampaignReport
  /** The eval file as GitHub knows it: relative to the repository, or absolute. */
  readonly file: string
  /** Somebody has annotated the verdict already: it counts, and is not said twice. */
  readonly told: boolean
}

export interface AnnotationOptions {
  /** Errors that this step has shown already; those past the tenth are hidden. */
  readonly errors: number
}

/**
 * Workflow commands: the verdict of each campaign, the worst first, then the worst scenarios of red gates, ten in all.
 * Each is one line and starts at its front.
 */
export function annotations(campaigns: readonly Annotated[], { errors }: AnnotationOptions): string[] {
  const ordered = campaigns.toSorted((a, b) => gravity(a.report) - gravity(b.report))
  const verdicts = ordered.flatMap((one) => (one.told ? [] : [verdict(one, errors)]))
  const told = ordered.length - verdicts.length
  const losses = ordered.filter(({ report }) => report.verdict.red).flatMap(scenarios)
  return [...verdicts, ...losses].slice(0, Math.max(0, MOST - told))
}

function verdict({ report, file }: Annotated, errors: number): string {
  const { word, headline, red } = report.verdict
  // Beyond ten errors the verdict would be the one that nobody sees: warnings have ten places of their own.
  const level: Level = red ? (errors < MOST ? 'error' : 'warning') : word === 'PASS' ? 'notice' : 'warning'
  return command(level, { file, line: report.line, title: `${word}: ${report.campaignId}` }, headline)
}

function scenarios({ report, file }: Annotated): string[] {
  const scale = scaleOf(report.design.scale, PRINTED)
  const unit = scale.unit === 'pp' ? ' pp' : ''
  return bySeverity(report.candidates)
    .filter(({ outcome }) => outcome === 'regress')
    .flatMap((candidate) => {
      const { id, mustPass } = candidate
      const title = `${report.campaignId}: ${id}`
      const at = { file, line: report.line, title }
      const broken = mustPass.broken.map(({ scenario, failedSeeds }) =>
        command(
          'warning',
          at,
          `must-pass scenario ${inline(scenario, 200)} failed (${plural(failedSeeds.length, 'seed')})`,
        ),
      )
      const named = new Set(mustPass.broken.map(({ scenario }) => scenario))
      const losses = lost(candidate).flatMap((change) => {
        if (named.has(change.scenario) || change.delta === null) return []
        const sides = [change.comparatorSeeds, change.candidateSeeds].map((seeds) => inline(seeds, 60)).join(' → ')
        return [
          command('warning', at, `${inline(change.scenario, 200)}: ${sides}, ${scale.difference(change.delta)}${unit}`),
        ]
      })
      return [...broken, ...losses]
    })
}

function gravity({ verdict: { red, word } }: CampaignReport): number {
  return red ? 0 : word === 'PASS' ? 2 : 1
}

function command(
  level: Level,
  { file, line, title }: { readonly file: string; readonly line: number | null; readonly title: string },
  message: string,
): string {
  const properties = [
    `file=${property(inline(file))}`,
    ...(line === null ? [] : [`line=${line}`]),
    `title=${property(inline(title, 200))}`,
  ]
  return `::${level} ${properties.join(',')}::${data(printable(message, { max: LONGEST }))}`
}

function data(value: string): string {
  return value.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
}

function property(value: string): string {
  return data(value).replace(/:/g, '%3A').replace(/,/g, '%2C')
}
