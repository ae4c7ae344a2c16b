import type { Json } from '../../core/campaign/canonical-json.ts'
import { preregSentence } from '../sentences.ts'
import { type Content, type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { cut, label, listed, section, sentence, table } from './text.ts'

const DEVIATION = 400

/** How it was decided, what deviates from what was planned, and where the numbers can be checked. */
export function method(model: Model): Html | null {
  const { report, scores, runId } = model
  const { design, fingerprint, evidence, looks } = report
  const unit = scores.unit === 'pp' ? ' pp' : ''
  const score = (value: number | null): string =>
    value === null ? 'not declared' : `${scores.difference(value).replace('+', '')}${unit}`
  const facts: [string, Content][] = [
    [
      'unit',
      `the ${design.families === null ? 'scenario' : 'family of scenarios'}: seeds are averaged first and are no samples of their own`,
    ],
    [
      'comparison',
      'paired by scenario: t interval and sign-flip test; every missing cell counts at its worst for the verdict',
    ],
    ['margin, smallest gain, target', `${score(design.margin)}, ${score(design.minGain)}, ${score(design.target)}`],
    ['one-sided level', `${design.alpha}; of this look ${design.alphaOfLook}`],
    ['looks', `${looks.used} of ${looks.allowed}${looks.exhausted ? ', exhausted' : ''}`],
    ['assurance', design.assurance ?? 'none'],
    ['confirmatory', report.confirmatory ? 'yes' : 'no'],
    ['preregistration', sentence(preregSentence(report) ?? 'none')],
    [
      'split',
      `${Object.entries(design.splits)
        .map(([name, count]) => `${label(name, 40)} ${count}`)
        .join(', ')}${design.splitDeclared ? '' : ' (not declared)'}`,
    ],
    [
      'evidence',
      `${evidence.live} live, ${evidence.replayed} replayed, ${evidence.mixed} partly replayed, ${evidence.carried} carried over, ${evidence.silent} without a captured call to a model provider`,
    ],
    [
      'eval file',
      html`<code>${label(report.line === null ? report.file : `${report.file}:${report.line}`, 300)}</code>`,
    ],
    ['run', html`<code>${label(runId, 200)}</code>`],
    ['fingerprint of the campaign', html`<code>${label(fingerprint.campaign, 120)}</code>`],
    ['of the records', html`<code>${label(fingerprint.records, 120)}</code>`],
    ['of the report', html`<code>${label(fingerprint.report, 120)}</code>`],
  ]
  return section(
    'method',
    'Method, deviations, data',
    html`${deviations(model)}${accepted(model)}
<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`,
  )
}

function deviations({ report: { prereg } }: Model): Html {
  if (prereg === null) return html`<h3>Deviations</h3><p>Nothing was preregistered, so nothing can deviate.</p>`
  const told = (value: Json): Html => html`<code>${cut(JSON.stringify(value), DEVIATION)}</code>`
  return html`<h3>Deviations</h3><p>Registered: ${sentence(prereg.claim)} <span class="q">${label(prereg.source, 300)}</span></p>
${
  prereg.deviations.length === 0
    ? html`<p>None: what ran is what was registered.</p>`
    : table(
        'Deviations from the preregistration',
        [{ title: 'field', heads: true }, { title: 'registered' }, { title: 'ran' }],
        prereg.deviations
          .slice(0, 50)
          .map(({ field, planned, actual }) => [label(field, 80), told(planned), told(actual)]),
      )
}`
}

function accepted({ report: { design } }: Model): Html | null {
  if (design.accepted === null) return null
  const { runId, commit, measuredFrom, measuredTo, arms, without } = design.accepted
  const missing = listed(without, 50, 'candidates')
  return html`<h3>Accepted records</h3><p>Of run <code>${label(runId, 200)}</code>, commit <code>${label(commit ?? 'unknown', 60)}</code>, measured ${label(measuredFrom ?? 'at an unknown time', 40)} to ${label(measuredTo ?? 'an unknown time', 40)}.</p>
<ul>${arms.map(({ id, paired, mismatches, models }) => html`<li>${label(id)}: ${paired} cells pair${mismatches.map(({ code, count, example }) => `; ${count} ${code}, for instance ${label(example, 80)}`)}${models.map(({ requested, accepted: then, now }) => `; ${label(requested, 60)} was answered by ${then.map((name) => label(name, 60)).join(', ')}, now by ${now.map((name) => label(name, 60)).join(', ')}`)}</li>`)}</ul>
${missing.shown.length === 0 ? null : html`<p>Without accepted records: ${missing.shown.map((id) => label(id)).join(', ')}.</p>`}${missing.rest}`
}
