import type { CampaignReport } from '../../core/report/report.ts'
import type { Scale } from '../numbers.ts'
import { bySeverity, frontierSentence, seedsSentence, splitSentences } from '../sentences.ts'
import { code, text } from './text.ts'

/** Where the noise comes from and what narrows it; how tuning, cost and quality stand to each other. */
export function spread(report: CampaignReport, scale: Scale): string {
  const lines = [
    ...bySeverity(report.candidates).flatMap(({ id, power: { advice }, variance: { icc, deff, nEff } }) => {
      const found =
        icc === null || deff === null || nEff === null
          ? []
          : [`ICC ${icc.toFixed(2)}, design effect ${deff.toFixed(2)}, worth ${nEff.toFixed(0)} independent cells`]
      const said = [...(advice === null || advice === '' ? [] : [text(advice)]), ...found]
      return said.length === 0 ? [] : [`- ${code(id)}: ${said.join('; ')}`]
    }),
    ...report.variants.flatMap((variant) => {
      const said = seedsSentence(variant)
      return said === null ? [] : [`- seeds: ${text(said)}`]
    }),
    ...splitSentences(report, scale).map((said) => `- splits: ${text(said)}`),
  ]
  const frontier = frontierSentence(report)
  if (frontier !== null) lines.push(`- quality and cost: ${text(frontier)}`)
  return lines.join('\n')
}
