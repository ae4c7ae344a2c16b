import { digits, dollars, PRINTED, percent, unknown } from '../numbers.ts'
import { estimated } from '../quantities.ts'
import { bySeverity, splitSentences } from '../sentences.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, section, sentence, table } from './text.ts'

/** Where the noise comes from, what narrows it, and how stable the seeds of a scenario are. */
export function spread(model: Model): Html | null {
  const { report, scores } = model
  const splits = splitSentences(report, scores)
  const parts = [budget(model), stability(model)]
  if (parts.every((part) => part === null) && splits.length === 0) return null
  return section(
    'spread',
    'Scenarios or seeds',
    html`${parts}${splits.length === 0 ? null : html`<h3>Splits</h3><ul>${splits.map((said) => html`<li>${sentence(said)}</li>`)}</ul>`}`,
  )
}

function budget({ report, scores }: Model): Html | null {
  const rows = bySeverity(report.candidates).map(({ id, variance, power }) => {
    const { tau2, sigma2, icc, deff, nEff, refused } = variance
    return [
      label(id),
      tau2 === null || sigma2 === null ? unknown(refused) : share(tau2, sigma2),
      icc === null ? 'unknown' : icc.toFixed(2),
      deff === null ? 'unknown' : deff.toFixed(2),
      nEff === null ? 'unknown' : nEff.toFixed(0),
      power.target === null ? 'none declared' : scores.difference(power.target).replace('+', ''),
      power.requiredScenarios === null
        ? 'unknown'
        : `${power.requiredScenarios}${power.requiredUsd === null ? '' : `, ${dollars(power.requiredUsd)} more`}`,
      sentence(power.advice ?? ''),
    ]
  })
  if (rows.length === 0) return null
  return html`<h3>What narrows the interval</h3>${table(
    'Variance and what to buy',
    [
      { title: 'candidate', heads: true },
      { title: 'variance: between scenarios, between seeds' },
      { title: 'ICC', align: 'right' },
      { title: 'design effect', align: 'right' },
      { title: 'worth independent cells', align: 'right' },
      { title: 'effect asked about', align: 'right' },
      { title: 'needed', align: 'right' },
      { title: 'advice' },
    ],
    rows,
  )}`
}

function share(tau2: number, sigma2: number): Html {
  const part = tau2 + sigma2 > 0 ? tau2 / (tau2 + sigma2) : 0
  const width = Math.round(part * 1_000) / 10
  return html`<svg class="share" width="100%" height="14" role="img" aria-label="${percent(part)} between scenarios"><rect class="s-scored" width="${width}%" height="14"/><rect class="s-fail" x="${width}%" width="${Math.round((100 - width) * 10) / 10}%" height="14"/></svg> <span class="q">${digits(tau2, PRINTED)} / ${digits(sigma2, PRINTED)}</span>`
}

function stability({ report, columns }: Model): Html | null {
  if (report.design.seeds < 2) return html`<p>One seed per scenario: how stable an answer is was not measured.</p>`
  return html`<h3>Stability of the seeds</h3>${table(
    'Stability of the seeds',
    [
      { title: 'variant', heads: true },
      { title: 'flaky', align: 'right' },
      { title: 'always pass', align: 'right' },
      { title: 'always fail', align: 'right' },
      { title: 'unknown', align: 'right' },
      { title: `pass@${report.variants[0]?.reliability.k ?? report.design.seeds}`, align: 'right' },
      { title: `pass^${report.variants[0]?.reliability.k ?? report.design.seeds}`, align: 'right' },
      { title: 'chance that two seeds disagree', align: 'right' },
    ],
    columns.map(({ letter, summary: { id, flakiness, reliability } }) => [
      html`<span class="letter">${letter}</span> ${label(id)}`,
      flakiness.flaky,
      flakiness.stablePass,
      flakiness.stableFail,
      flakiness.unknown,
      estimated(reliability.passAtK, percent),
      estimated(reliability.passHatK, percent),
      estimated(flakiness.disagreement, percent),
    ]),
  )}`
}
