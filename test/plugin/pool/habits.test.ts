import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectCleanOutput, inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('campaigns live with what projects set for their other tests', async () => {
  const root = await project('habits')
  const { code, output } = await runVitest(root, ['--reporter=default', '--reporter=json', '--outputFile=states.json'])
  expect(code, output).toBe(1)
  expectCleanOutput(output)
  const states = jsonStates(await readFile(join(root, 'states.json'), 'utf8'))
  const run = await inspectRun(root)

  // Fake timers fake the subject's time, not the run's.
  expect(run.of('faked').map(({ status }) => status)).toEqual(['scored', 'scored'])
  expect(Math.abs(Date.parse(run.cell('faked', 'one').startedAt ?? '') - Date.now())).toBeLessThan(600_000)
  expect(run.cell('deadline-beside-fake-timers', 'stuck')).toMatchObject({
    status: 'task_fail',
    failure: { class: 'timeout' },
  })

  // Hooks of the user: their failure is their cell's, and no lease stays behind it.
  expect(states).toMatchObject({
    'hooks > v > fine > seed 0': 'passed',
    'hooks > v > throws > seed 0': 'failed',
    'hooks > v > stuck > seed 0': 'failed',
  })
  for (const scenario of ['throws', 'stuck']) {
    expect(run.cell('hooks', scenario)).toMatchObject({ status: 'infra_error', reason: 'collection-error' })
  }

  // Retries must not hide a bug, and one slot takes cells in the plan's order: seed blocks, variants interleaved.
  expect((await readFile(join(root, 'order.txt'), 'utf8')).trim().split('\n')).toEqual([
    '0 s1 a',
    '0 s1 b',
    '0 s2 a',
    '0 s2 b',
    '1 s1 a',
    '1 s1 b',
    '1 s2 a',
    '1 s2 b',
  ])
  expect(states['nested > nested > a > s2 > seed 1']).toBe('failed')
  expect(run.of('nested').map(({ attempts }) => attempts)).toEqual(Array(8).fill(1))
  // Under sequence.concurrent and shuffle the gate still comes last.
  expect(states['nested > nested > coverage']).toBe('passed')
})
