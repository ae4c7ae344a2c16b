import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectCleanOutput, inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('a bug in the code of the user is red where it is, and nowhere else', async () => {
  const root = await project('bugs')
  const { code, output } = await runVitest(root, ['--reporter=default', '--reporter=json', '--outputFile=states.json'])
  expect(code, output).toBe(1)
  expectCleanOutput(output.replaceAll('properties of undefined', '').replaceAll('output is undefined', ''))
  const states = jsonStates(await readFile(join(root, 'states.json'), 'utf8'))
  const run = await inspectRun(root)
  const state = (cell: string): string | undefined => states[`${cell} > seed 0`]

  expect(states['fine > v > s > seed 0']).toBe('passed')
  expect(state('runs > v > fine')).toBe('passed')
  expect(run.cell('runs', 'fine').status).toBe('scored')

  for (const [scenario, message] of [
    ['typo', "Cannot read properties of undefined (reading 'text')"],
    ['date', 'output.at is an instance of Date'],
    ['nothing', 'output is undefined (return null where there is nothing to return)'],
    ['nan', 'output.list[1] is NaN'],
    ['cycle', 'output.self is a cycle'],
    ['bad-metric', 'metric "ratio" is NaN'],
    ['bad-tag', 'a tag cannot be named "__proto__"'],
    ['odd-tag', 'tag "team" is an object; a tag is a text'],
    ['odd-class', 'ctx.fail: "nope" is no class of failure; they are '],
    ['null', 'null'],
  ] as const) {
    expect(state(`runs > v > ${scenario}`), scenario).toBe('failed')
    expect(run.cell('runs', scenario)).toMatchObject({
      status: 'task_fail',
      failure: { class: 'unknown', mode: 'error' },
    })
    expect(run.cell('runs', scenario).failure?.message).toContain(message)
    expect(output).toContain(message)
  }

  expect(output).toContain('null was thrown')

  // Nobody caught these; they belong to the cell in whose context they were thrown.
  expect(state('runs > v > throws')).toBe('failed')
  expect(state('runs > v > rejects')).toBe('failed')
  expect(output).toContain('thrown in a timer of throws')
  expect(output).toContain('rejected beside rejects')
  expect(output).not.toContain('Unhandled Errors')
  for (const scenario of ['throws', 'rejects', 'crashes']) {
    expect(run.cell('runs', scenario)).toMatchObject({
      status: 'task_fail',
      failure: { class: 'unknown', mode: 'error' },
    })
  }
  // One that would never settle after that is not waited for.
  expect(state('runs > v > crashes')).toBe('failed')
  expect(run.cell('runs', 'crashes').failure?.message).toContain('is not valid JSON')

  // A subject that is too slow has failed; that is no bug.
  expect(state('runs > v > stuck')).toBe('passed')
  expect(run.cell('runs', 'stuck')).toMatchObject({ status: 'task_fail', failure: { class: 'timeout' } })
  expect(run.cell('runs', 'stuck').failure?.message).toContain('the deadline of 1000 ms passed')

  for (const [scenario, message] of [
    ['throws', 'the scorer is wrong'],
    ['nan', 'scorer "primary" gave NaN'],
    ['outside', 'scorer "primary" gave 7, outside its scale [0, 1]'],
    ['stuck', 'scorer "primary" did not settle within its timeout of 0.2 s'],
  ] as const) {
    expect(state(`scores > v > ${scenario}`), scenario).toBe('failed')
    const record = run.cell('scores', scenario)
    expect(record).toMatchObject({ status: 'judge_error', score: null })
    expect(record.scores.primary?.error).toContain(message)
    expect(output).toContain(message)
  }
  // Where it was thrown stands beside the reason, in the record and in the report.
  expect(run.cell('scores', 'throws').scores.primary?.error).toBe('the scorer is wrong (bugs.eval.ts:90)')
  expect(run.reports.scores?.failures).toContainEqual(
    expect.objectContaining({ class: 'scorer_error', mode: 'primary' }),
  )
  expect(output).toContain('4 scorer_error (primary)')
  expect(state('scores > v > fine')).toBe('passed')
  expect(states['scores > coverage']).toBe('failed')

  // Vitest prints equal errors once: the stacks of equal failures must be equal.
  expect(run.of('same').map(({ status }) => status)).toEqual(Array(50).fill('task_fail'))
  expect(output.split('TypeError: cannot read the ticket')).toHaveLength(2)
  expect(output).toContain('50 unknown (error): cannot read the ticket')
})
