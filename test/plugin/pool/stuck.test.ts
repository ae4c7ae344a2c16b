import { expect, test } from 'vitest'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('a synchronous infinite loop is ended after the deadline of its cells, and only its file suffers', async () => {
  const root = await project('capacity')
  const { code, output } = await runVitest(root, ['--project', 'evals'], { FILES: 'stuck.eval.ts,beside.eval.ts' })
  expect(code, output).toBe(1)
  expectCleanOutput(output)
  const run = await inspectRun(root)
  expect(run.cell('stuck', 'before').status).toBe('scored')
  for (const id of ['loop', 'beside']) {
    const record = run.cell('stuck', id)
    expect(record, output).toMatchObject({ status: 'infra_error', reason: 'worker-lost' })
    expect(record.failure?.message).toMatch(/did not answer for \d+ s, longer than the deadline .*a synchronous loop/)
  }
  expect(run.of('beside').map(({ status }) => status)).toEqual(['scored', 'scored'])
})

test('--bail drains: what is in flight finishes, and nothing new starts', async () => {
  const root = await project('capacity')
  const env = { FILES: 'bail.eval.ts', OPTIONS: JSON.stringify({ capacity: { cells: 2 } }) }
  const { code, output } = await runVitest(root, ['--project', 'evals', '--bail', '1'], env)
  expect(code, output).toBe(1)
  expectCleanOutput(output)
  const run = await inspectRun(root)
  expect(run.of('bails').map(({ scenarioId, status, reason }) => `${scenarioId} ${status} ${reason ?? ''}`)).toEqual([
    // A low score is no failure.
    'low scored ',
    'bug task_fail ',
    'also scored ',
    'never not_run bail',
    'after not_run bail',
  ])
  expect(output).toContain('a test failed, and bail is 1: no cell was started after that')
})
