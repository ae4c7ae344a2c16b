import type { CampaignReport } from '../../core/report/report.ts'
import type { Scale } from '../numbers.ts'
import { preregSentence } from '../sentences.ts'
import { code, text } from './text.ts'

/** How the verdict came about, and the fingerprints of what it rests on. */
export function method(report: CampaignReport, scale: Scale): string {
  const { design, fingerprint, evidence } = report
  const unit = scale.unit === 'pp' ? ' pp' : ''
  const score = (value: number | null): string =>
    value === null ? 'not declared' : `${scale.difference(value).replace('+', '')}${unit}`
  const splits = Object.entries(design.splits).map(([name, count]) => `${text(name, 40)} ${count}`)
  return [
    `- The unit is the ${design.families === null ? 'scenario' : 'family of scenarios'}: seeds are averaged first and are no samples of their own.`,
    '- Differences are paired by scenario: t interval and sign-flip test; every missing cell counts at its worst for the verdict.',
    `- margin ${score(design.margin)}, smallest gain ${score(design.minGain)}, target ${score(design.target)}, one-sided level ${design.alpha}`,
    `- looks: ${report.looks.used} of ${report.looks.allowed}, one-sided level of this one ${design.alphaOfLook}; ${design.assurance ?? 'no'} assurance`,
    `- ${report.confirmatory ? 'confirmatory' : 'not confirmatory'}; preregistration: ${text(preregSentence(report) ?? 'none')}`,
    `- split: ${splits.join(', ')}${design.splitDeclared ? '' : ' (not declared)'}`,
    `- evidence: ${evidence.live} live, ${evidence.replayed} replayed, ${evidence.mixed} partly replayed, ${evidence.carried} carried over, ${evidence.silent} without a captured call to a model provider`,
    `- fingerprints: campaign ${code(fingerprint.campaign, 120)}, records ${code(fingerprint.records, 120)}, report ${code(fingerprint.report, 120)}`,
  ].join('\n')
}
