import type { CampaignReport, Estimate } from '../../core/report/report.ts'
import type { VariantSummary } from '../../core/report/variant-report.ts'
import { dollars, PRINTED, percent, plural, type Scale, tokenPair, unknown } from '../numbers.ts'
import { measured, timeWords } from '../sentences.ts'
import { estimated, refusal } from './estimated.ts'
import { code, grid } from './text.ts'

/** A row per variant: score, cost, latency, tokens. */
export function variants(report: CampaignReport, scale: Scale): string {
  const walls = report.variants.every(({ latency: { wall } }) => wall.medianMs.refused !== 'replayed')
  const level = Math.round((report.variants[0]?.mean.level ?? 0.95) * 100)
  return grid(
    [
      ['variant', 'left'],
      [`mean [${level} % CI]`, 'right'],
      ['passed', 'right'],
      ['cost per cell', 'right'],
      ['cost per success', 'right'],
      ['cost in total', 'right'],
      ['provider latency, median', 'right'],
      ['provider latency, p95', 'right'],
      ...(walls ? ([['wall clock, median / p95', 'right']] as const) : []),
      ['tokens in / out', 'right'],
      ['cells', 'right'],
    ],
    report.variants.map((variant) => [
      `${code(variant.id)}${variant.role === 'comparator' ? ' (comparator)' : ''}`,
      estimated(variant.mean, scale.value),
      variant.passRate.est === null ? refusal(variant.passRate.refused) : percent(variant.passRate.est),
      money(variant.cost.perCellUsd, variant),
      money(variant.cost.perSuccessUsd, variant),
      total(variant),
      latency(variant, variant.latency.medianMs),
      latency(variant, variant.latency.p95Ms),
      ...(walls ? [wallClock(variant)] : []),
      tokenPair(variant.tokens, PRINTED) ?? unknown('no_data'),
      measured(variant),
    ]),
  )
}

function money(usd: number | null, { cost, passRate }: VariantSummary): string {
  if (usd !== null) return `${dollars(usd)}${cost.provenance === 'estimated' ? ' (list price)' : ''}`
  // Without another reason a missing cost per success has no success to stand over.
  return refusal(cost.refused ?? (passRate.est === 0 ? 'no_successes' : passRate.refused))
}

function total({ cost }: VariantSummary): string {
  if (cost.totalUsd !== null) return dollars(cost.totalUsd)
  const known = cost.knownUsd > 0 ? `≥ ${dollars(cost.knownUsd)}, ` : ''
  return `${known}${refusal(cost.refused)}, ${plural(cost.uncapturedCells, 'cell')}`
}

function latency({ latency: { source, limitMs } }: VariantSummary, estimate: Estimate): string {
  const time = timeWords(estimate, limitMs)
  if (time === null) return refusal(estimate.refused)
  return `${time}${source === 'recorded' || source === 'mixed' ? ` (${source})` : ''}`
}

function wallClock({ latency: { wall, limitMs } }: VariantSummary): string {
  return [wall.medianMs, wall.p95Ms]
    .map((estimate) => timeWords(estimate, limitMs) ?? refusal(estimate.refused))
    .join(' / ')
}
