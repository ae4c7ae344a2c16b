import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collectReportWorkspace, parseVitestJsonReport, readEvalTaskMeta } from '@vitest-evals/core'
import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../src/core/record/record.ts'
import { vitestEvalsMeta } from '../../src/reporter/vitest-evals.ts'
import { planOf, recordsOf } from '../core/report/records.ts'
import { project, runVitest } from '../harness/run-vitest.ts'

const plan = planOf({ scenarios: 1, variants: ['current'] })
const metaOf = (parts: Partial<RunRecord> | number) => {
  const [record] = recordsOf(plan, () => parts)
  if (record === undefined) throw new Error('no record')
  return vitestEvalsMeta(record)
}

describe('every status is read by vitest-evals', () => {
  test.each<[string, Partial<RunRecord>]>([
    ['scored', { score: 0.5 }],
    ['task_fail', { status: 'task_fail' }],
    ['infra_error', { status: 'infra_error', reason: 'provider-fault' }],
    [
      'judge_error',
      { status: 'judge_error', scores: { label: { value: null, pass: null, role: 'judge', error: 'down' } } },
    ],
    ['capture_error', { status: 'capture_error' }],
    ['skipped', { status: 'skipped', reason: 'skip' }],
    ['not_run', { status: 'not_run', reason: 'budget' }],
  ])('%s', (_, parts) => {
    const meta = metaOf(parts)
    // As the JSON reporter writes it: what JSON cannot say would be lost or make the whole meta unread.
    const written: unknown = JSON.parse(JSON.stringify(meta))
    expect(written).toEqual(meta)
    expect(readEvalTaskMeta({ campaign: {}, ...meta })).toEqual(meta)
  })
})

test('what is not known is left out, never 0', () => {
  const tokens = { input: 10, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: false }
  const { harness } = metaOf({ tokens, wallMs: null, providerMs: null })
  expect(harness.run.usage).toEqual({ model: 'gpt-5-mini-2025-08-07', inputTokens: 10, retries: 0 })
  expect(harness.run.timings).toEqual({})
})

/** The JSON report of a run of the fixture, as vitest-evals' action and report take it. */
async function reported(options: string) {
  const root = await project('outputs')
  const config = await readFile(join(root, 'vitest.config.ts'), 'utf8')
  await writeFile(join(root, 'vitest.config.ts'), config.replace('evals()', `evals(${options})`))
  const file = join(root, 'vitest-results.json')
  const { output } = await runVitest(root, ['red.eval.ts', '--reporter=json', `--outputFile=${file}`])
  const report = parseVitestJsonReport(JSON.parse(await readFile(file, 'utf8')))
  return { workspace: collectReportWorkspace({ report }, { workspace: root }), output }
}

test('a real run is a workspace of vitest-evals: every cell, with score, output and rationale', async () => {
  const { workspace, output } = await reported("{ taskMeta: 'vitest-evals' }")
  expect(workspace.cases, output).toHaveLength(2 * 12 * 2)
  const worse = workspace.cases.find(({ harness }) => harness?.name === 'worse')
  expect(worse).toMatchObject({
    status: 'passed',
    eval: { avgScore: 0, thresholdFailed: true, scores: [{ name: 'right', score: 0 }] },
  })
  expect(worse?.harness?.run?.session.events[0]).toMatchObject({
    role: 'assistant',
    content: expect.stringContaining('taken over'),
  })
})

test('without the option nothing of it is written', async () => {
  const { workspace } = await reported('')
  expect(workspace.cases).toEqual([])
})
