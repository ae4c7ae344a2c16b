import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { block, code, text } from '../../src/reporter/markdown/text.ts'
import { renderMarkdown } from '../../src/reporter/markdown.ts'
import { candidate, cluster, HOLD, REPORTS, report, variant } from './reports.ts'

describe('fixed reports', () => {
  test.each(Object.entries(REPORTS))('%s', async (name, fixed) => {
    const document = renderMarkdown(fixed)
    expect(document.startsWith(`### ${fixed.verdict.word}: `)).toBe(true)
    await expect(document).toMatchFileSnapshot(`__golden__/${name.replaceAll(' ', '-')}.markdown.txt`)
  })
})

describe('hostile text', () => {
  const ids = [
    'a|b',
    '@octocat',
    '<img src=x onerror=alert(1)>',
    '``` x ```',
    '[x](http://evil.example)',
    '\u001b[31mred',
    'a\nb',
  ]
  const document = renderMarkdown(
    report({
      verdict: {
        ...HOLD.verdict,
        headline: ids.join(' '),
        reasons: ids.map((id) => ({ code: 'x', text: `${id} #12 www.evil.example` })),
      },
      variants: ids.map((id) => variant(id)),
      candidates: ids.map((id) =>
        candidate(id, {
          worst: [
            {
              scenario: id,
              comparator: 1,
              candidate: 0,
              delta: -1,
              comparatorSeeds: '1/1',
              candidateSeeds: '0/1',
              flaky: { comparator: false, candidate: false },
            },
          ],
        }),
      ),
      failures: ids.map((id) => ({
        class: 'unknown',
        mode: id,
        ...cluster(1, [`${id}\n\`\`\`\`\n@octocat`], [id]),
        variants: [],
      })),
    }),
  )
  /** The document without code, where nothing acts. */
  const prose = document.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '').replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '')

  test('is escaped in prose', () => {
    expect(prose).not.toMatch(/@octocat|#12|<img|:\/\/|www\.evil/)
    expect(prose).not.toMatch(/(?<!\\)\[x/)
    expect(document).not.toContain('\u001b')
  })

  test('leaves every table its columns', () => {
    const rows = document.split('\n').filter((line) => line.startsWith('| '))
    expect(rows.length).toBeGreaterThan(ids.length)
    for (const row of rows) {
      const cells = row.split(/(?<!\\)\|/).length
      expect([6 + 1, 5 + 1, 11 + 2]).toContain(cells)
    }
  })

  test('cannot close its block', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', '\n', 'x', ' ') }), (value) => {
        const [open = '', ...rest] = block(value).split('\n')
        const fence = open.replace('text', '')
        expect(rest.filter((line) => line.trim().startsWith(fence))).toEqual([fence])
      }),
    )
  })

  test('cannot close its code span', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', 'x', ' ', '|') }), (value) => {
        const span = code(value)
        const fence = /^`+/.exec(span)?.[0]
        if (fence === undefined) {
          expect(span).toBe('(empty)')
          return
        }
        const runs = (span.match(/`+/g) ?? []).filter((run) => run.length === fence.length)
        expect(runs).toHaveLength(2)
        expect(span).not.toMatch(/(?<!\\)\|/)
      }),
    )
  })

  test('begins no list, heading or rule', () => {
    for (const start of ['- x', '+ x', '1. x', '# x', '> x', '* x', '=== x'])
      expect(text(start)).not.toMatch(/^([-+*>=]|#\s|\d+\.\s)/)
  })
})
