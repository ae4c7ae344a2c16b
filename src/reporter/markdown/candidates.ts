import type { CampaignReport } from '../../core/report/report.ts'
import type { Scale } from '../numbers.ts'
import { estimated, probability, threshold } from '../quantities.ts'
import { bySeverity, powerSentence } from '../sentences.ts'
import { code, grid, text } from './text.ts'

/** A row per candidate: verdict, difference, p. */
export function candidates(report: CampaignReport, scale: Scale): string {
  if (report.candidates.length === 0) return ''
  const unit = scale.unit === 'pp' ? 'pp' : 'score'
  const compared = report.candidates.some(({ difference }) => difference !== null)
  const level = report.candidates.some(({ atLeast }) => atLeast !== null)
  return grid(
    [
      ['candidate', 'left'],
      ['verdict', 'left'],
      ...(compared
        ? ([
            [`difference, ${unit} (interval)`, 'right'],
            ['p', 'right'],
            ['worse / better / same', 'right'],
          ] as const)
        : []),
      ...(level ? ([['mean (interval), at least', 'right']] as const) : []),
    ],
    bySeverity(report.candidates).map((candidate) => [
      code(candidate.id),
      `**${candidate.outcome}** (rule ${text(candidate.rule, 20)})`,
      ...(compared
        ? [
            candidate.difference === null ? 'n/a' : estimated(candidate.difference, scale.difference),
            probability(candidate),
            `${candidate.changed.worse} / ${candidate.changed.better} / ${candidate.changed.same}`,
          ]
        : []),
      ...(level ? [threshold(candidate, scale)] : []),
    ]),
  )
}

/** What size of drop a candidate's gate would have caught. */
export function power(report: CampaignReport, scale: Scale): string {
  return bySeverity(report.candidates)
    .flatMap((candidate) => {
      const sentence = powerSentence(report, candidate, scale)
      return sentence === null ? [] : [`- ${code(candidate.id)}: ${sentence}.`]
    })
    .join('\n')
}
