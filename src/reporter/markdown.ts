import type { CandidateReport, ScenarioChange } from '../core/report/candidate-report.ts'
import type { CampaignReport, Estimate } from '../core/report/report.ts'
import type { VariantSummary } from '../core/report/variant-report.ts'
import { guardrails } from './markdown/guardrails.ts'
import { judges } from './markdown/judges.ts'
import { slices } from './markdown/slices.ts'
import { spread } from './markdown/spread.ts'
import { tests } from './markdown/tests.ts'
import { block, code, grid, text } from './markdown/text.ts'
import {
  dollars,
  grouped,
  interval,
  PRINTED,
  percent,
  plural,
  pValue,
  type Scale,
  scaleOf,
  tokenPair,
  unknown,
} from './numbers.ts'
import {
  bySeverity,
  counts,
  designWords,
  furtherReasons,
  measured,
  missing,
  missingWords,
  powerSentence,
  preregSentence,
  stale,
  timeWords,
} from './sentences.ts'

/** Rows of a list before the rest is counted: a job summary is thrown away as a whole beyond 1 MiB. */
const LONGEST = 50
const EXAMPLE = 600

/** The report as Markdown, for `reports/<campaign>.md` and a job summary: verdict first, then what it rests on. */
export function renderMarkdown(report: CampaignReport): string {
  const scale = scaleOf(report.design.scale, PRINTED)
  const parts = [
    verdict(report),
    candidates(report, scale),
    power(report, scale),
    tests(report, scale),
    guardrails(report),
    actions(report),
    variants(report, scale),
    spread(report, scale),
    judges(report, scale),
    ...bySeverity(report.candidates).map((candidate) => worst(report, candidate, scale)),
    slices(report, scale),
    coverage(report),
    failures(report),
    integrity(report),
    method(report, scale),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function verdict(report: CampaignReport): string {
  const { word, headline, gate, rule, exitCode } = report.verdict
  const dated = stale(report.evidence)
  const texts = furtherReasons(report)
  const judged =
    gate === 'none'
      ? 'no gate'
      : `${gate} gate${rule === null ? '' : `, rule ${text(rule, 20)}`}, \`vitest-campaign gate\` exits ${exitCode}`
  const where = code(report.line === null ? report.file : `${report.file}:${report.line}`, 300)
  return [
    `### ${word}: ${text(headline)}`,
    `${dated === null ? '' : `**${text(dated)}.** `}${code(report.campaignId)}, ${judged}, ${where}. ${text(designWords(report))}.`,
    texts
      .slice(0, LONGEST)
      .map((reason) => `- ${text(reason)}`)
      .join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function candidates(report: CampaignReport, scale: Scale): string {
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

function threshold({ atLeast }: CandidateReport, scale: Scale): string {
  return atLeast === null ? 'n/a' : `${estimated(atLeast.mean, scale.value)}, ≥ ${scale.value(atLeast.threshold)}`
}

function probability({ signFlip, adjusted }: CandidateReport): string {
  if (signFlip === null) return 'n/a'
  if (signFlip.p === null) return unknown(signFlip.refused)
  return adjusted.method === 'none' || adjusted.p === null
    ? pValue(signFlip.p)
    : `${pValue(signFlip.p)}, ${adjusted.method} ${pValue(adjusted.p)}`
}

function estimated(estimate: Estimate, write: (value: number) => string): string {
  const known = interval(estimate, write)
  if (estimate.est === null) return known === null ? unknown(estimate.refused) : `${unknown(estimate.refused)} ${known}`
  const range = known ?? `interval ${unknown(estimate.refused)}`
  return `${write(estimate.est)} ${range}${estimate.descriptive ? ', descriptive' : ''}`
}

function power(report: CampaignReport, scale: Scale): string {
  return bySeverity(report.candidates)
    .flatMap((candidate) => {
      const sentence = powerSentence(report, candidate, scale)
      return sentence === null ? [] : [`- ${code(candidate.id)}: ${sentence}.`]
    })
    .join('\n')
}

function variants(report: CampaignReport, scale: Scale): string {
  const walls = report.variants.every(({ latency: { wall } }) => wall.medianMs.refused !== 'replayed')
  const level = Math.round((report.variants[0]?.mean.level ?? 0.95) * 100)
  return [
    '#### Variants',
    grid(
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
    ),
  ].join('\n\n')
}

function refusal(refused: Estimate['refused']): string {
  return refused === 'not_applicable' ? 'n/a' : unknown(refused)
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

function actions(report: CampaignReport): string {
  if (report.actions.length === 0) return ''
  return ['#### Next', report.actions.map((action) => `1. ${text(action.text)}`).join('\n')].join('\n\n')
}

function worst(report: CampaignReport, candidate: CandidateReport, scale: Scale): string {
  const { mustPass, changed } = candidate
  const losses = candidate.worst.filter(({ delta }) => delta === null || delta < 0)
  if (losses.length + mustPass.broken.length === 0) return ''
  const comparator = report.design.comparator
  const shown = losses.slice(0, LONGEST)
  const summary =
    comparator === null
      ? ''
      : `${plural(changed.worse, 'scenario')} worse, ${changed.better} better, ${changed.same} unchanged, ${changed.missing} missing.`
  return [
    `#### Worst scenarios of ${code(candidate.id)}`,
    mustPass.broken
      .slice(0, LONGEST)
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
          ],
          shown.map((change) => [
            code(change.scenario),
            arm(change, 'comparator', scale),
            arm(change, 'candidate', scale),
            change.delta === null ? '' : scale.difference(change.delta),
          ]),
        ),
    losses.length > shown.length ? `${losses.length - shown.length} more are in the JSON report.` : '',
    summary,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function arm(change: ScenarioChange, side: 'comparator' | 'candidate', scale: Scale): string {
  const mean = change[side]
  const seeds = side === 'comparator' ? change.comparatorSeeds : change.candidateSeeds
  return [seeds === '' ? '' : text(seeds, 60), mean === null ? '' : scale.value(mean)]
    .filter((part) => part !== '')
    .join(', ')
}

function coverage(report: CampaignReport): string {
  const { planned, counts: all, reasons } = report.coverage
  const gone = missing(all)
  const lines = [`- ${grouped(String(planned))} cells planned: ${counts(all)}`]
  if (gone > 0) lines.push(`- missing ${grouped(String(gone))}: ${text(missingWords(all, reasons))}`)
  for (const variant of report.variants) {
    if (variant.coverage < 1) lines.push(`- ${code(variant.id)}: ${measured(variant)} (${counts(variant.counts)})`)
  }
  lines.push(`- floor: ${percent(report.design.coverageFloor)} of the cells of an arm`)
  return ['#### Coverage', lines.join('\n')].join('\n\n')
}

function failures(report: CampaignReport): string {
  if (report.failures.length === 0) return ''
  const shown = report.failures.slice(0, LONGEST)
  return [
    '#### Failures',
    ...shown.map(({ class: name, mode, count, messages, distinct, cells, variants: by }) => {
      const where =
        cells.length === 0
          ? ''
          : `, cells ${cells
              .slice(0, 5)
              .map((cell) => code(cell, 40))
              .join(', ')}`
      const whose = by.map(({ variant, count: own }) => `${code(variant, 40)} ${own}`).join(', ')
      const title = `**${plural(count, 'cell')}: ${text(name, 80)}**${mode === null ? '' : ` (${text(mode, 80)})`}${whose === '' ? '' : ` — ${whose}`}${where}`
      const unseen = distinct - messages.length
      return [
        title,
        ...messages.flatMap(({ text: said, count: own }) => [
          ...(distinct > 1 ? [`${grouped(String(own))} ×:`] : []),
          block(said, EXAMPLE),
        ]),
        ...(unseen > 0 ? [`and ${plural(unseen, 'other message')}.`] : []),
      ].join('\n\n')
    }),
    report.failures.length > shown.length
      ? `${report.failures.length - shown.length} more classes are in the JSON report.`
      : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function integrity(report: CampaignReport): string {
  const { backend, issues } = report.integrity
  const lines = issues
    .slice(0, LONGEST)
    .map(
      ({ code: name, severity, count, example }) =>
        `- **${severity}** ${code(name, 80)} × ${grouped(String(count))}: ${text(example, EXAMPLE)}`,
    )
  return ['#### Integrity', [`- backend: ${backend}`, ...lines].join('\n')].join('\n\n')
}

function method(report: CampaignReport, scale: Scale): string {
  const { design, fingerprint, evidence } = report
  const unit = scale.unit === 'pp' ? ' pp' : ''
  const score = (value: number | null): string =>
    value === null ? 'not declared' : `${scale.difference(value).replace('+', '')}${unit}`
  const splits = Object.entries(design.splits).map(([name, count]) => `${text(name, 40)} ${count}`)
  return [
    '#### Method',
    [
      `- The unit is the ${design.families === null ? 'scenario' : 'family of scenarios'}: seeds are averaged first and are no samples of their own.`,
      '- Differences are paired by scenario: t interval and sign-flip test; every missing cell counts at its worst for the verdict.',
      `- margin ${score(design.margin)}, smallest gain ${score(design.minGain)}, target ${score(design.target)}, one-sided level ${design.alpha}`,
      `- looks: ${report.looks.used} of ${report.looks.allowed}, one-sided level of this one ${design.alphaOfLook}; ${design.assurance ?? 'no'} assurance`,
      `- ${report.confirmatory ? 'confirmatory' : 'not confirmatory'}; preregistration: ${text(preregSentence(report) ?? 'none')}`,
      `- split: ${splits.join(', ')}${design.splitDeclared ? '' : ' (not declared)'}`,
      `- evidence: ${evidence.live} live, ${evidence.replayed} replayed, ${evidence.mixed} partly replayed, ${evidence.carried} carried over, ${evidence.silent} without a captured call to a model provider`,
      `- fingerprints: campaign ${code(fingerprint.campaign, 120)}, records ${code(fingerprint.records, 120)}, report ${code(fingerprint.report, 120)}`,
    ].join('\n'),
  ].join('\n\n')
}
