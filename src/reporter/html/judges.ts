import type { Agreement, JudgeReport, Rate } from '../../core/report/judges/report.ts'
import { correctedSentences, judgeSentences } from '../judges.ts'
import { digits, PRINTED, percent, unknown } from '../numbers.ts'
import { type Content, type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, section, sentence, table } from './text.ts'

/** From here on agreement is tentative, and reliable. */
const TENTATIVE = 0.667
const RELIABLE = 0.8

/** How far judges agree with each other and with people, and the rates corrected by what people said. */
export function judges({ report, scores }: Model): Html | null {
  if (report.judges.length === 0) return null
  const rows = report.judges.flatMap((judge) => [
    ...(judge.agreement === null
      ? []
      : [
          row(
            judge,
            `with ${judge.raters
              .slice(1)
              .map((rater) => label(rater, 40))
              .join(', ')}`,
            judge.agreement,
          ),
        ]),
    ...(judge.human === null
      ? []
      : [row(judge, `with people, ${judge.human.labelled} labelled`, judge.human.agreement)]),
  ])
  const said = report.judges.flatMap((judge) => [...judgeSentences(judge), ...correctedSentences(judge, scores)])
  return section(
    'judges',
    'Judges',
    html`${
      rows.length === 0
        ? html`<p>No judge is checked against another one, or against people.</p>`
        : table(
            'Agreement of judges',
            [
              { title: 'judge', heads: true },
              { title: 'agreement' },
              { title: 'outputs', align: 'right' },
              { title: 'α [95 % CI]', align: 'right' },
              { title: '0 to 1, from .667 tentative, from .8 reliable' },
              { title: 'reading' },
              { title: 'κ / AC1 / ICC', align: 'right' },
            ],
            rows,
          )
    }
<ul>${said.map((line) => html`<li>${sentence(line)}</li>`)}</ul>
${accuracies(report.judges)}`,
  )
}

function row({ scorer, models }: JudgeReport, whom: string, agreement: Agreement): Content[] {
  const { alpha, lo, hi, outputs, reading, kappa, ac1, icc, refused } = agreement
  const number = (value: number | null): string => (value === null ? '–' : digits(value, PRINTED))
  const interval = lo === null || hi === null ? '' : ` [${number(lo)}, ${number(hi)}]`
  return [
    html`${label(scorer)}${
      models.length === 0
        ? null
        : html`<br><span class="q">${models
            .slice(0, 5)
            .map((name) => label(name, 60))
            .join(', ')}</span>`
    }`,
    whom,
    outputs,
    alpha === null ? unknown(refused) : `${number(alpha)}${interval}`,
    alpha === null ? null : gauge(alpha, lo, hi),
    reading === null
      ? 'none'
      : reading === 'reliable'
        ? '✓ reliable'
        : reading === 'tentative'
          ? '? tentative'
          : '✗ unreliable',
    `${number(kappa)} / ${number(ac1)} / ${number(icc)}`,
  ]
}

function gauge(alpha: number, lo: number | null, hi: number | null): Html {
  const at = (value: number): string => `${Math.round(Math.min(1, Math.max(0, value)) * 1_000) / 10}%`
  return html`<svg class="bar" width="100%" height="20" role="img" aria-label="α ${digits(alpha, PRINTED)}"><rect class="frame" width="100%" height="20"/><line class="l-limit" x1="${at(TENTATIVE)}" x2="${at(TENTATIVE)}" y1="0" y2="20"/><line class="l-goal" x1="${at(RELIABLE)}" x2="${at(RELIABLE)}" y1="0" y2="20"/>${
    lo === null || hi === null ? null : html`<line class="ci" x1="${at(lo)}" x2="${at(hi)}" y1="10" y2="10"/>`
  }<circle class="pt" cx="${at(alpha)}" cy="10" r="4"/></svg>`
}

function accuracies(all: readonly JudgeReport[]): Html | null {
  const rate = (one: Rate | null): string =>
    one === null ? 'unknown' : `${percent(one.est)} [${percent(one.lo)}, ${percent(one.hi)}]`
  const rows = all.flatMap(({ scorer, human }) =>
    human?.accuracy == null
      ? []
      : [[label(scorer), rate(human.accuracy.sensitivity), rate(human.accuracy.specificity), human.disputed]],
  )
  if (rows.length === 0) return null
  return html`<h3>Against what people passed and failed</h3>${table(
    'Accuracy of judges',
    [
      { title: 'judge', heads: true },
      { title: 'passes what people pass', align: 'right' },
      { title: 'fails what people fail', align: 'right' },
      { title: 'disputed', align: 'right' },
    ],
    rows,
  )}`
}
