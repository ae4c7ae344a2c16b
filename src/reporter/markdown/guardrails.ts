import type { CampaignReport } from '../../core/report/report.ts'
import { PRINTED } from '../numbers.ts'
import { bySeverity, clockWord, guardrailWords } from '../sentences.ts'
import { code, grid, text } from './text.ts'

/** Every limit beside the primary score. */
export function guardrails(report: CampaignReport): string {
  const rails = bySeverity(report.candidates).flatMap(({ id, guardrails: own }) => own.map((rail) => ({ id, rail })))
  if (rails.length === 0) return ''
  return grid(
    [
      ['guardrail', 'left'],
      ['candidate', 'left'],
      ['comparator', 'right'],
      ['candidate', 'right'],
      ['limit', 'right'],
      ['shown', 'left'],
      ['needed', 'left'],
    ],
    rails.map(({ id, rail }) => {
      const words = guardrailWords(rail, PRINTED)
      return [
        code(rail.name) + clockWord(rail),
        code(id),
        words.comparator,
        words.candidate,
        words.limit,
        text(words.status),
        rail.require === 'shown' ? 'shown to hold' : 'not shown broken',
      ]
    }),
  )
}
