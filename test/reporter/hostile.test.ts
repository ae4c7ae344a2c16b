import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../src/core/record/record.ts'
import { buildReport } from '../../src/core/report/build.ts'
import type { CampaignReport } from '../../src/core/report/report.ts'
import { annotations } from '../../src/reporter/github/annotations.ts'
import { renderMarkdown } from '../../src/reporter/markdown.ts'
import { outputsOf } from '../../src/reporter/outputs.ts'
import { inputOf, planOf, recordsOf } from '../core/report/records.ts'
import { expectHarmless } from './harmless-markdown.ts'
import { expectReadable } from './junit/readers.ts'
import { candidate, cluster, report } from './reports.ts'
import { parseXml } from './well-formed-xml.ts'

/** Pieces that mean something to Markdown, GitHub, HTML, XML, a terminal or a CI runner. */
const PIECES = [
  '`',
  '```',
  '~~~',
  '|',
  '\\',
  '\\|',
  '*',
  '__',
  '#',
  '# ',
  '- ',
  '1. ',
  '> ',
  '    ',
  '\t',
  '---',
  '===',
  '| - |',
  '[x](http://e.example)',
  '![x](x)',
  '[x]: http://e.example',
  '[^1]',
  '[^1]: x',
  '[ ] ',
  '<b>',
  '</details>',
  '</summary>',
  '<!--',
  '-->',
  '<script>',
  '<?x',
  '<![CDATA[',
  ']]>',
  '&amp;',
  '&#64;',
  '@octocat',
  '#12',
  'GH-12',
  'octocat/repo#1',
  'http://e.example',
  'www.e.example',
  'a@e.example',
  'mailto:a@e.example',
  'xmpp:a@e.example',
  ':+1:',
  '$x$',
  '~~x~~',
  '\n',
  '\r',
  '\n\n',
  '\u0000',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '\ud800',
  '\udc00',
  '🙂',
  '::error::',
  '##[',
  '%0A',
  '[[ATTACHMENT|/etc/passwd]]',
  'a',
  ' ',
]
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

/** Every text that a record holds, from as many strings. */
function hostileRecord(texts: readonly string[], at: number): Partial<RunRecord> {
  const text = (i: number): string => texts[(at + i) % texts.length] ?? ''
  const kinds: Partial<RunRecord>[] = [
    { status: 'task_fail', failure: { class: 'unknown', mode: text(1), message: text(2) } },
    { status: 'infra_error', reason: 'provider-fault', failure: { class: 'unknown', message: text(3) } },
    {
      status: 'judge_error',
      scores: { [`label ${text(4)}`]: { value: null, pass: null, role: 'judge', error: text(5) } },
    },
    {
      status: 'capture_error',
      integrity: { ok: false, issues: [{ code: 'replay_miss', severity: 'error', message: text(6) }] },
    },
    {
      score: 0,
      scores: { label: { value: 0, pass: false, role: 'code', rationale: text(7) } },
      integrity: { ok: true, issues: [{ code: 'usage_missing', severity: 'warn', message: text(8) }] },
    },
    { score: 0 },
  ]
  const output = { digest: planOf().scorerDigest, preview: text(9) }
  return {
    ...kinds[at % kinds.length],
    output,
    lane: text(10),
    model: { requested: [text(11)], served: [text(12)] },
    tags: { [text(13)]: text(14) },
  }
}

/** A campaign that a text has got into wherever one can. */
function campaignOf(texts: readonly string[]): { report: CampaignReport; records: RunRecord[] } {
  // Ids with half a character are refused before a plan is made.
  const text = (i: number): string => (texts[i % texts.length] ?? '').replace(/\p{Cs}/gu, '')
  const plan = planOf({
    campaignId: `c${text(0)}`,
    variants: [`v${text(1)}`, `w${text(2)}`],
    scenarios: Array.from({ length: 8 }, (_, i) => ({
      id: `${text(i + 3)}${i}`,
      family: text(i + 4),
      mustPass: i === 0,
    })),
    seeds: 2,
    gate: { comparator: `v${text(1)}` },
  })
  const records = recordsOf(plan, ({ variant }, { scenario, seed }) =>
    variant.startsWith('v') ? 1 : hostileRecord(texts, 2 * scenario + seed),
  )
  const problems = [{ code: 'late_call', text: text(5) }]
  return { report: buildReport(inputOf(plan, records, problems)), records }
}

function renderings(campaign: ReturnType<typeof campaignOf>, texts: readonly string[]) {
  return outputsOf({
    project: texts[0] ?? '',
    root: texts[1] ?? '',
    campaigns: [{ ...campaign, path: `.evals/${texts[2]}/x.md` }],
    problems: texts.slice(0, 2),
    notes: texts.slice(1, 3),
  })
}

test('a message that ends in half a character is reported', () => {
  const { report: built } = campaignOf(['a', 'b', 'an emoji cut in two: \ud83d'])
  expect(JSON.stringify(built)).toContain('an emoji cut in two: \ufffd')
})

describe('any text anywhere in records and plans', () => {
  const texts = fc.array(hostile, { minLength: 3, maxLength: 15 })

  test('renders to harmless Markdown and to XML that everybody reads', () => {
    fc.assert(
      fc.property(texts, (given) => {
        const campaign = campaignOf(given)
        const { documents } = renderings(campaign, given)
        expectHarmless(documents['comment.md'])
        expectHarmless(renderMarkdown(campaign.report))
        expectReadable(parseXml(documents['junit.xml']))
        const lines = annotations([{ report: campaign.report, file: given[0] ?? '', told: false }], { errors: 0 })
        for (const line of lines) expect(line).toMatch(/^::(?:error|warning|notice) file=[^\n\r]*$/)
      }),
      { numRuns: 15 },
    )
  })

  test('each piece alone, in every place at once', () => {
    for (const piece of PIECES) {
      const campaign = campaignOf([piece])
      const { documents } = renderings(campaign, [piece])
      expectHarmless(documents['comment.md'])
      expectReadable(parseXml(documents['junit.xml']))
    }
  })
})

test('any text anywhere in a report renders to harmless Markdown', () => {
  fc.assert(
    fc.property(hostile, hostile, (one, two) => {
      const fixed = report({
        campaignId: one,
        file: two,
        verdict: { ...report().verdict, headline: two, reasons: [{ code: one, text: one }] },
        candidates: [
          candidate(one, {
            reasons: [{ code: one, text: two }],
            mustPass: { scenarios: 1, broken: [{ scenario: two, failedSeeds: [0] }] },
          }),
        ],
        failures: [{ class: one, mode: two, ...cluster(2, [one, two], [two]), variants: [] }],
        integrity: { backend: 'real', issues: [{ code: one, severity: 'error', count: 1, example: two }] },
        warnings: [{ code: one, text: one }],
        actions: [{ code: two, text: two }],
      })
      expectHarmless(renderMarkdown(fixed))
      expectReadable(parseXml(renderings({ report: fixed, records: [] }, [one, two, one]).documents['junit.xml']))
      expectHarmless(renderings({ report: fixed, records: [] }, [one, two, one]).documents['comment.md'])
    }),
    { numRuns: 30 },
  )
})
