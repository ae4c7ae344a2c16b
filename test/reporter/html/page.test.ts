import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asAccepted } from '../../../src/core/accepted/as-accepted.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import { PAGE_LIMIT } from '../../../src/reporter/html/budget.ts'
import { visible } from '../../../src/reporter/html/visible.ts'
import { renderHtml } from '../../../src/reporter/html.ts'
import { fingerprintOf, inputOf, planOf, recordsOf } from '../../core/report/records.ts'
import {
  type Campaign,
  campaignOf,
  largeCampaign,
  richCampaign,
  richTraffic,
  sayingCampaign,
  smallCampaign,
} from './campaign.ts'
import { anyText, attribute, HOSTILE, parsed } from './parsed.ts'

const rendered = ({ report, material }: Campaign, name = 'triage'): string => renderHtml(report, material, name)

describe('a fixed campaign', () => {
  const page = rendered(smallCampaign())

  test('has its golden page', async () => {
    const shown = page
      .replace(/<style>[\s\S]*?<\/style>/, '<style></style>')
      .replace(/<script>[\s\S]*?<\/script>/, '<script></script>')
    await expect(shown.replace(/sha256-[A-Za-z0-9+/=]+/g, 'sha256-')).toMatchFileSnapshot('../__golden__/page.html.txt')
  })

  test('gives the same bytes again', () => {
    expect(rendered(smallCampaign())).toBe(page)
  })

  test('allows its own style and script, and nothing else', () => {
    const { elements } = parsed(page)
    const policy = elements.find((element) => attribute(element, 'http-equiv') === 'Content-Security-Policy')
    const digest = (tag: string): string => {
      const code = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page)?.[1] ?? ''
      return createHash('sha256').update(code).digest('base64')
    }
    expect(policy === undefined ? '' : attribute(policy, 'content')).toBe(
      `default-src 'none'; style-src 'sha256-${digest('style')}'; script-src 'sha256-${digest('script')}'; img-src data:; base-uri 'none'; form-action 'none'`,
    )
  })
})

describe('a campaign with something of everything', () => {
  const { errors, elements, text } = parsed(rendered(richCampaign()))

  test('is well-formed, and every section has its heading', () => {
    expect(errors).toEqual([])
    const headings = elements.filter(({ tagName }) => tagName === 'h2')
    expect(headings).toHaveLength(elements.filter(({ tagName }) => tagName === 'section').length)
    const links = elements.filter(({ tagName }) => tagName === 'a').map((link) => attribute(link, 'href') ?? '')
    const ids = new Set(elements.map((element) => attribute(element, 'id')))
    for (const href of links.filter((link) => link.startsWith('#'))) expect(ids).toContain(href.slice(1))
  })

  test('no id twice, and every drawing has words or stands beside them', () => {
    const ids = elements.flatMap((element) => attribute(element, 'id') ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    const drawings = elements.filter(
      ({ tagName, parentNode }) =>
        tagName === 'svg' && parentNode !== null && !('tagName' in parentNode && parentNode.tagName === 'svg'),
    )
    expect(drawings.length).toBeGreaterThan(50)
    for (const drawing of drawings) {
      const words = attribute(drawing, 'role') === 'img' ? attribute(drawing, 'aria-label') : undefined
      expect(words !== undefined || attribute(drawing, 'aria-hidden') === 'true').toBe(true)
    }
  })

  test.each([
    ['the verdict', 'concise fails must-pass scenario refund/double-charge'],
    ['what was not measured', '2 infra_error'],
    ['a broken must-pass scenario', 'broken: refund/double-charge (seeds 0, 1, 2)'],
    ['a judge’s reason', 'Names the team and says what happens next.'],
    ['an earlier attempt', '2 attempts'],
    ['its exchange without a response', 'UND_ERR_SOCKET'],
    ['a broken response', '✗ The connection broke: ECONNRESET'],
    ['where a stream was cut', 'Streamed: 3 chunks, 76 bytes over 502 ms'],
    ['what was redacted', 'Redacted: header × 1'],
    ['a request, as sent', '"temperature": 1.0'],
    ['how judges agree', 'tone: alpha'],
    ['the missing preregistration', 'Nothing was preregistered'],
  ])('shows %s', (_, words) => {
    // A page as the message of a failure is no message.
    expect(text.includes(words)).toBe(true)
  })

  test('lists what lost most first', () => {
    const rows = elements.filter(
      ({ tagName, attrs }) => tagName === 'tbody' && attrs.some(({ name }) => name === 'data-c'),
    )
    const changes = rows.map((row) => attribute(row, 'data-c'))
    expect(changes).toHaveLength(24)
    expect(changes).toEqual(changes.toSorted((a, b) => ORDER.indexOf(a ?? '') - ORDER.indexOf(b ?? '')))
    expect(changes[0]).toBe('worse')
  })
})

describe('a campaign compared with accepted records', () => {
  test('has a column for them, beside the cells of the run', () => {
    const plan = planOf({
      variants: ['current'],
      scenarios: 8,
      gate: { comparator: null, accepted: { variant: null }, candidates: ['current'] },
    })
    const of = { ...plan, runId: 'run-0', startedAt: '2026-11-01T00:00:00.000Z', fingerprint: fingerprintOf(plan) }
    const accepted = asAccepted(
      { ...of, commit: { sha: null, dirty: false } },
      recordsOf(plan, () => 1),
    )
    const records = recordsOf(plan, (_, { scenario }) => (scenario < 7 ? 0 : 1))
    const report = buildReport({ ...inputOf(plan, records), accepted })
    const { material } = campaignOf(plan, records)
    const { errors, text } = parsed(renderHtml(report, { ...material, accepted }, 'triage'))
    expect(errors).toEqual([])
    expect(text.includes('current (accepted)')).toBe(true)
    expect(text.includes('8 scenarios: 7 worse, 0 better, 1 the same, 0 with missing cells')).toBe(true)
    expect(text.includes('An accepted record: its exchanges are not kept with it.')).toBe(true)
  })
})

const ORDER = ['worse', 'unknown', 'better', 'same']

describe('5,000 cells', () => {
  const page = rendered(largeCampaign(), 'large')

  test('stay below 6 MiB, and the page says what it leaves out', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(6 * 1024 * 1024)
    expect(Buffer.byteLength(page)).toBeGreaterThan(3 * 1024 * 1024)
    const { errors, text } = parsed(page)
    expect(errors).toEqual([])
    expect(text).toMatch(/The exchanges of [\d,]+ cells are not in it: this page holds at most 6 MiB/)
    expect(text).toContain('Exchanges not in this page.')
  })

  test('stay below it whatever their texts are', () => {
    const plan = planOf({ variants: ['\u202e'.repeat(190), '<'.repeat(190)], scenarios: 2_500, gate: null })
    const records = recordsOf(plan, () => ({
      output: { digest: plan.scorerDigest, preview: '\u0000<'.repeat(250) },
      scores: { label: { value: 1, pass: true, role: 'code', rationale: '"\u202e'.repeat(5_000) } },
      failure: { class: 'unknown', mode: '&'.repeat(500), message: '\u{e0041}'.repeat(1_000) },
    }))
    const hostile = rendered(campaignOf(plan, records, richTraffic))
    expect(Buffer.byteLength(hostile)).toBeLessThan(PAGE_LIMIT)
    expect(parsed(hostile).text).toMatch(/are not (listed|in it): this page holds at most 6 MiB/)
  })
})

/** What a page may be made of. */
const TAGS = new Set(
  'html head meta link title style body a svg defs pattern rect line circle path text g header h1 h2 h3 h4 h5 p code nav ul ol li main section span strong div table thead tbody tr th td form label input select option button output details summary article pre b blockquote br dl dt dd footer script'.split(
    ' ',
  ),
)
const ATTRIBUTES =
  /^(?:lang|charset|http-equiv|content|name|rel|href|class|id|tabindex|role|aria-[a-z]+|scope|colspan|hidden|type|autocomplete|value|open|data-[a-z]|width|height|x|y|x1|x2|y1|y2|cx|cy|r|d|viewBox|preserveAspectRatio|patternUnits|patternTransform|text-anchor|stroke-dasharray)$/
const LINKS = /^(?:#[a-z-]+|\.\.\/records\.jsonl|\.\.\/\.\.\/index\.html|triage\.(?:json|md)|data:,)$/

function expectHarmless(page: string): string {
  const { errors, elements, text } = parsed(page)
  expect(errors).toEqual([])
  for (const element of elements) {
    expect(TAGS).toContain(element.tagName)
    for (const { name } of element.attrs) expect(name).toMatch(ATTRIBUTES)
    const href = attribute(element, 'href')
    if (href !== undefined) expect(href).toMatch(LINKS)
  }
  expect(elements.filter(({ tagName }) => tagName === 'script' || tagName === 'style')).toHaveLength(2)
  // Nothing acts, hides or turns around: not in text, not in an attribute.
  expect(visible(page)).toBe(page)
  return text
}

describe('text of others', () => {
  test.each(HOSTILE)('%j stays text everywhere', (hostile) => {
    const text = expectHarmless(rendered(sayingCampaign(hostile)))
    // In an output, a rationale, a failure, a body and a header at least.
    expect(text.split(visible(hostile).trim()).length).toBeGreaterThan(10)
  })

  test('whatever it is, gives a well-formed page of the same elements', () => {
    fc.assert(
      fc.property(anyText, fc.string({ unit: 'binary', maxLength: 40 }), (text, id) => {
        expectHarmless(rendered(sayingCampaign(text, id)))
      }),
      { numRuns: 60 },
    )
  })

  test('in any string of a report gives a well-formed page', () => {
    const { report, material } = smallCampaign()
    fc.assert(
      fc.property(anyText, (text) => {
        const { candidates, verdict } = report
        const told = {
          ...report,
          file: text,
          verdict: { ...verdict, headline: text, rule: text, reasons: [{ code: text, text }] },
          warnings: [{ code: text, text }],
          actions: [{ code: text, text }],
          design: { ...report.design, comparator: text, primary: text, splits: { [text]: 1 } },
          candidates: candidates.map((candidate) => ({ ...candidate, rule: text, reasons: [{ code: text, text }] })),
          prereg: {
            hash: text,
            claim: text,
            source: text,
            commit: text,
            order: 'after' as const,
            verified: false,
            deviations: [{ field: text, planned: text, actual: { [text]: [text] } }],
          },
          fingerprint: { campaign: report.fingerprint.campaign, records: text, report: text },
          slices: [{ by: text, value: text, candidate: text, scenarios: 1, difference: NONE, p: null, q: null }],
          judges: [
            {
              scorer: text,
              raters: [text, text],
              models: [text],
              agreement: null,
              human: null,
              noise: null,
              corrected: [],
              carries: false,
            },
          ],
        }
        expectHarmless(renderHtml(told, material, 'triage'))
      }),
      { numRuns: 40 },
    )
  })
})

const NONE = {
  est: null,
  lo: null,
  hi: null,
  level: 0.95,
  se: null,
  df: null,
  n: 0,
  unit: 'scenario',
  method: 't',
  descriptive: true,
  refused: 'no_data',
} as const
