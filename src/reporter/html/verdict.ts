import type { CandidateReport } from '../../core/report/candidate-report.ts'
import type { CampaignReport, Outcome } from '../../core/report/report.ts'
import { PRINTED, type Scale, scaleOf } from '../numbers.ts'
import { estimated, probability, threshold } from '../quantities.ts'
import { bySeverity, designWords, furtherReasons, powerSentence, stale, testWords } from '../sentences.ts'
import { type ForestLine, type ForestRow, forest, outcomeChip, unitOf } from './forest.ts'
import { type Content, type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { type Column, label, listed, sentence, table } from './text.ts'

const LONGEST = 50
/** Candidates drawn; all of them stand in the table. */
const DRAWN = 24

const WORDS: {
  readonly [word in CampaignReport['verdict']['word']]: { readonly icon: string; readonly tone: string }
} = {
  PASS: { icon: '✓', tone: 'good' },
  FAIL: { icon: '✗', tone: 'bad' },
  'NO VERDICT': { icon: '?', tone: 'open' },
}

/** Verdict first: the word, why, what to do, and every candidate's interval on one axis. */
export function verdict({ report, scores }: Model): Html | null {
  const { word, headline, gate, rule, exitCode } = report.verdict
  const { icon, tone } = WORDS[word]
  const dated = stale(report.evidence)
  const judged =
    gate === 'none'
      ? 'no gate'
      : html`${gate} gate${rule === null ? null : html`, rule ${label(rule, 20)}`}, <code>vitest-campaign gate</code> exits ${exitCode}`
  const next = listed(report.actions, LONGEST, 'actions')
  return html`<section id="verdict" class="card v-${tone}" aria-labelledby="verdict-h">
<h2 id="verdict-h"><span class="word">${icon} ${word}</span> <span class="headline">${sentence(headline)}</span></h2>
<p class="q">${judged} · ${sentence(designWords(report))}${dated === null ? null : html` · <strong>${sentence(dated)}</strong>`}</p>
${plots(report, scores)}
${candidates(report, scores)}
<div class="two">${why(report, scores)}${
    next.shown.length === 0
      ? null
      : html`<div><h3>What to do next</h3><ol>${next.shown.map(({ text }) => html`<li>${sentence(text)}</li>`)}</ol>${next.rest}</div>`
  }</div>
</section>
`
}

function plots(report: CampaignReport, scores: Scale): Content {
  const ordered = bySeverity(report.candidates).slice(0, DRAWN)
  const { margin, minGain, scale } = report.design
  const differences = ordered.flatMap(({ id, outcome, difference }): ForestRow[] =>
    difference === null ? [] : [{ id, outcome, estimate: difference }],
  )
  const levels = ordered.flatMap(({ id, atLeast }) => (atLeast === null ? [] : [{ id, ...atLeast }]))
  const lines: ForestLine[] = [{ at: 0, kind: 'zero', words: 'no difference' }]
  if (margin !== null) lines.push({ at: -margin, kind: 'limit', words: `margin ${scores.difference(-margin)}` })
  if (minGain > 0) lines.push({ at: minGain, kind: 'goal', words: `smallest gain ${scores.difference(minGain)}` })
  const drawable = (row: ForestRow): boolean => row.estimate.est !== null || row.estimate.lo !== null
  const values = scaleOf(scale, PRINTED).value
  return html`${
    differences.some(drawable)
      ? html`<h3>Difference to ${label(report.design.comparator ?? 'the comparator')}, ${unitOf(scores)}</h3>${forest(differences, lines, scores.difference, unitOf(scores))}`
      : null
  }${thresholds(levels).map(
    ([at, rows]) =>
      html`<h3>Mean against the level asked for</h3>${forest(rows, [{ at, kind: 'limit', words: `at least ${values(at)}` }], values, 'score')}`,
  )}`
}

function thresholds(
  levels: readonly {
    readonly id: string
    readonly threshold: number
    readonly outcome: Outcome
    readonly mean: ForestRow['estimate']
  }[],
): [number, ForestRow[]][] {
  const by = new Map<number, ForestRow[]>()
  for (const { id, threshold: at, outcome, mean } of levels) {
    if (mean.est === null && mean.lo === null) continue
    by.set(at, [...(by.get(at) ?? []), { id, outcome, estimate: mean }])
  }
  return [...by]
}

function candidates(report: CampaignReport, scores: Scale): Html | null {
  if (report.candidates.length === 0) return null
  const compared = report.candidates.some(({ difference }) => difference !== null)
  const level = report.candidates.some(({ atLeast }) => atLeast !== null)
  const columns: Column[] = [
    { title: 'candidate', heads: true },
    { title: 'verdict' },
    ...(compared
      ? ([
          { title: `difference, ${unitOf(scores)} (interval)`, align: 'right' },
          { title: 'where complete', align: 'right' },
          { title: 'p', align: 'right' },
          { title: 'worse / better / same', align: 'right' },
        ] as const)
      : []),
    ...(level ? ([{ title: 'mean (interval), at least', align: 'right' }] as const) : []),
  ]
  return table(
    'Candidates',
    columns,
    bySeverity(report.candidates).map((candidate) => [
      label(candidate.id),
      html`${outcomeChip(candidate.outcome)} <span class="q">rule ${label(candidate.rule, 20)}</span>`,
      ...(compared
        ? [
            candidate.difference === null ? 'n/a' : estimated(candidate.difference, scores.difference),
            candidate.completeCase === null ? 'n/a' : estimated(candidate.completeCase, scores.difference),
            probability(candidate),
            `${candidate.changed.worse} / ${candidate.changed.better} / ${candidate.changed.same}`,
          ]
        : []),
      ...(level ? [threshold(candidate, scores)] : []),
    ]),
  )
}

/** Why each candidate has its verdict and what could have been seen; then what else a reader must know. */
function why(report: CampaignReport, scores: Scale): Html | null {
  const told = new Set<string>()
  const own = bySeverity(report.candidates).flatMap((candidate) => {
    const reasons = candidate.reasons
      .map(({ text }) => text)
      .filter((text) => !report.verdict.headline.startsWith(text))
    for (const reason of reasons) told.add(reason)
    const power = powerSentence(report, candidate, scores)
    const lines = [
      ...reasons,
      ...(power === null ? [] : [power]),
      ...testWords(candidate, scores),
      ...unseen(candidate),
      ...tipping(candidate),
    ]
    return lines.length === 0
      ? []
      : [html`<li><strong>${label(candidate.id)}</strong>: ${sentence(lines.join('; '))}</li>`]
  })
  const further = furtherReasons(report).filter((reason) => !told.has(reason))
  const { shown, rest } = listed(
    [...own.slice(0, LONGEST), ...further.map((reason) => html`<li>${sentence(reason)}</li>`)],
    2 * LONGEST,
    'reasons',
  )
  return shown.length === 0 ? null : html`<div><h3>Why</h3><ul>${shown}</ul>${rest}</div>`
}

function unseen({ unseenLoss }: CandidateReport): string[] {
  if (unseenLoss === null) return []
  const { lost, units, upperRate } = unseenLoss
  return [
    `${lost} of ${units} lost more than half of the scale; a rate of ${(upperRate * 100).toFixed(1)} % is compatible with that`,
  ]
}

function tipping({ bounds }: CandidateReport): string[] {
  const cells = bounds?.tippingCells ?? null
  return cells === null ? [] : [`the verdict would change if ${cells} of the missing cells had failed`]
}
