import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { buildReport } from '../../../src/core/report/build.ts'
import { renderComment } from '../../../src/reporter/github/comment.ts'
import { appendStepSummary } from '../../../src/reporter/github/step-summary.ts'
import { markerOf, renderSummary, type Summarized } from '../../../src/reporter/github/summary.ts'
import { inputOf, planOf, recordsOf } from '../../core/report/records.ts'
import { expectHarmless } from '../harmless-markdown.ts'
import { candidate, cluster, HOLD, REGRESS, REPORTS, report } from '../reports.ts'
import { runOf } from './runs.ts'

const ROOM = { limit: 262_144, measure: Buffer.byteLength }
/** What GitHub takes as one comment: characters, of four bytes each at most. */
const COMMENT = { characters: 65_536, bytes: 262_144 }

/** Records of a small campaign with the ids of the fixed reports. */
const plan = planOf({ scenarios: [{ id: 'vat-id' }, { id: 'refund' }], seeds: 3 })
const records = recordsOf(plan, ({ variant, scenario }) => (variant === 'concise' && scenario === 'vat-id' ? 0 : 1))

describe('a fixed run', () => {
  const run = runOf([
    [HOLD, records],
    [REGRESS, records],
  ])

  test('as the summary of a step', async () => {
    const document = renderSummary({ ...run, notes: ['campaign other: skipped'] }, ROOM)
    expectHarmless(document)
    await expect(document).toMatchFileSnapshot('../__golden__/summary.markdown.txt')
  })

  test('as a comment', async () => {
    const document = renderComment(run)
    expectHarmless(document)
    await expect(document).toMatchFileSnapshot('../__golden__/comment.markdown.txt')
  })

  test('shows the worst verdict first, whatever the order of the campaigns', () => {
    const words = [...renderSummary(run, ROOM).matchAll(/^### \S+ (FAIL|PASS|NO VERDICT):/gm)].map(([, word]) => word)
    expect(words).toEqual(['FAIL', 'PASS'])
  })

  test.each(Object.entries(REPORTS))('%s begins with its verdict', (_, fixed) => {
    const document = renderSummary(runOf([[fixed, []]]), ROOM)
    expect(document).toMatch(new RegExp(`^### \\S+ ${fixed.verdict.word}: `))
    expectHarmless(document)
  })
})

describe('a run without a verdict', () => {
  test('that is red says why first', () => {
    const document = renderComment(runOf([], { problems: ['evals/a.eval.ts did not load'], notes: ['a note'] }))
    expect(document).toMatch(/^<!-- vitest-campaign:evals -->\n\n### ❌ FAIL: evals\/a\.eval\.ts did not load\n$/)
  })

  test('says that nothing was decided, and the notes', () => {
    const document = renderComment(runOf([], { notes: ['campaign triage: 3 of 9 cells selected'] }))
    expect(document).toContain('### ⚠️ NO VERDICT: this run decided nothing\n\n- note: campaign triage: 3 of 9')
  })
})

describe('limits', () => {
  const lengthOf = (text: string): number => [...text].length

  /** 5,400 cells of 300 scenarios whose outputs and messages are long and of wide letters. */
  function large(): Summarized {
    const long = '漢字🙂`|*_ '.repeat(200)
    const big = planOf({
      scenarios: Array.from({ length: 300 }, (_, i) => ({ id: `scenario ${i} ${'ü'.repeat(120)}` })),
      variants: ['current', 'concise', 'other'],
      seeds: 6,
    })
    const cells = recordsOf(big, ({ variant }, { scenario, seed }) =>
      variant === 'current' || scenario % 3 > 0
        ? 1
        : seed % 2 === 0
          ? { score: 0, output: { digest: big.scorerDigest, preview: long } }
          : {
              status: 'task_fail',
              failure: { class: 'unknown', mode: `mode ${scenario}`, message: `${long} ${scenario} ${seed}` },
            },
    )
    return runOf([[buildReport(inputOf(big, cells)), cells]])
  }
  const run = large()

  test('5,400 cells of 300 scenarios fit, and say what was left out', () => {
    const summary = renderSummary(run, ROOM)
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(ROOM.limit)
    const comment = renderComment(run)
    expect(lengthOf(comment)).toBeLessThanOrEqual(COMMENT.characters)
    expect(Buffer.byteLength(comment)).toBeLessThanOrEqual(COMMENT.bytes)
    for (const document of [summary, comment]) {
      expect(document).toContain('FAIL')
      expectHarmless(document)
    }
    const several = renderComment({ ...run, campaigns: [run, run, run].flatMap(({ campaigns }) => campaigns) })
    expect(lengthOf(several)).toBeLessThanOrEqual(COMMENT.characters)
    expectHarmless(several)
    expect(/_Cut to fit: .*/.exec(several)?.[0]).toMatch(/lists at 5 rows.*\.evals\/run\/reports\/triage\.md/)
  })

  test.each([100_000, 20_000, 8_000, 3_000, 1_000, 300, 100, 50, 0])('at most %i bytes', (limit) => {
    const document = renderSummary(run, { limit, measure: Buffer.byteLength })
    expect(Buffer.byteLength(document)).toBeLessThanOrEqual(limit)
    expectHarmless(document)
    if (limit >= 100 && limit < 100_000) expect(document.includes('_Cut to fit: ')).toBe(true)
    if (limit >= 1_000) expect(document).toMatch(/^### ❌ FAIL: /)
  })

  test('the more room, the more is said', () => {
    const sizes = [1_000, 3_000, 8_000, 20_000, 100_000].map(
      (limit) => renderSummary(run, { limit, measure: Buffer.byteLength }).length,
    )
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
    expect(new Set(sizes).size).toBeGreaterThan(3)
  })

  test('many campaigns are counted where they cannot be listed', () => {
    const many = runOf(
      Array.from({ length: 1_000 }, (_, i) => [report({ ...REGRESS, campaignId: `campaign ${i}` }), []] as const),
    )
    const comment = renderComment(many)
    expect(lengthOf(comment)).toBeLessThanOrEqual(COMMENT.characters)
    const listed = (comment.match(/^### /gm) ?? []).length
    const left = Number(/and ([\d,]+) campaigns not listed/.exec(comment)?.[1]?.replace(',', ''))
    expect(listed + left).toBe(1_000)
  })
})

describe('the summary of a step', () => {
  async function file(content: string): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'summary-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const path = join(dir, 'summary.md')
    await writeFile(path, content)
    return path
  }
  const run = runOf([[REGRESS, records]])

  test('is appended to, never overwritten, by as many runs as there are', async () => {
    const path = await file('## Vitest Test Report\n')
    expect(await appendStepSummary(path, run)).toBeNull()
    await appendFile(path, 'by another command\n')
    expect(await appendStepSummary(path, run)).toBeNull()
    const text = await readFile(path, 'utf8')
    expect(text).toMatch(/^## Vitest Test Report\n\n### ❌ FAIL: [\s\S]*\nby another command\n\n### ❌ FAIL: /)
  })

  test.each([0, 700_000, 980_000, 982_000, 1_040_000])('stays below 1 MiB beside %i bytes', async (taken) => {
    const path = await file('x'.repeat(taken))
    const problem = await appendStepSummary(path, run)
    const { size } = await stat(path)
    expect(size).toBeLessThanOrEqual(1_048_576)
    if (problem === null) expect(size).toBeGreaterThan(taken)
    else expect(problem).toContain(`${taken} of 1048576 bytes are taken`)
  })

  test('that cannot be written is a reason, not a throw', async () => {
    expect(await appendStepSummary(join(tmpdir(), 'not-there', 'summary.md'), run)).toMatch(/ENOENT/)
  })
})

test('the marker names the project and nothing that could end it', () => {
  expect(markerOf('evals')).toBe('<!-- vitest-campaign:evals -->')
  expect(markerOf('a --> <b> -- "c"\n')).toBe('<!-- vitest-campaign:a-b-c- -->')
})

test('what a model said stands in the table as code, cut to a line', () => {
  const worst = [
    {
      scenario: 'vat-id',
      comparator: 1,
      candidate: 0,
      delta: -1,
      comparatorSeeds: '3/3',
      candidateSeeds: '0/3',
      flaky: { comparator: false, candidate: false },
    },
  ]
  const said = records.map((record) => ({
    ...record,
    output: { digest: plan.scorerDigest, preview: '``` | ![x](http://evil.example)\n::error::@octocat' },
  }))
  const fixed = report({
    candidates: [candidate('concise', { worst })],
    failures: [{ class: 'unknown', mode: null, ...cluster(1, ['<img src=x>'], []), variants: [] }],
  })
  const document = renderSummary(runOf([[fixed, said]]), ROOM)
  expectHarmless(document)
  expect(document).toContain('evil.example')
})
