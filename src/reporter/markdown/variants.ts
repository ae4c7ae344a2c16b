import type { CampaignReport } from '../../core/report/report.ts'
import { PRINTED, percent, type Scale, tokenPair, unknown } from '../numbers.ts'
import { estimated, latency, money, refusal, total, wallClock } from '../quantities.ts'
import { measured } from '../sentences.ts'
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
