import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('an assertion belongs to its cell, and says where in the eval file it stands', async () => {
  const root = await project('errors')
  const { output } = await runVitest(root, [
    'expects',
    '--reporter=default',
    '--reporter=json',
    '--outputFile=states.json',
  ])
  const states = jsonStates(await readFile(join(root, 'states.json'), 'utf8'))
  const run = await inspectRun(root)
  const state = (id: string) => states[`expects > v > ${id} > seed 0`]

  expect(state('fine')).toBe('passed')
  expect(run.cell('expects', 'fine').status).toBe('scored')
  for (const [id, message] of [
    ['hard', /^the hard one: expected 'hard' to be 'x'.* \(expects\.eval\.ts:\d+\)$/],
    ['soft', /^the soft one: expected 'soft' to be 'x'.* \(expects\.eval\.ts:\d+\)$/],
    ['soft twice', /^the soft one: .*\nanother soft one: .* \(expects\.eval\.ts:\d+\)$/],
    ['fails', /^gave up$/],
  ] as const) {
    expect(state(id), id).toBe('passed')
    const record = run.cell('expects', id)
    expect(record.status, id).toBe('task_fail')
    expect(record.failure?.message).toMatch(message)
  }
  for (const [id, name] of [
    ['assertions', 'assertions'],
    ['has', 'hasAssertions'],
    ['poll', 'poll'],
  ] as const) {
    expect(state(id), id).toBe('failed')
    expect(run.cell('expects', id)).toMatchObject({ status: 'task_fail', failure: { mode: 'error' } })
    expect(output).toContain(`expect.${name}() does not work in a cell`)
  }
  for (const [id, message] of [
    ['scorer hard', "expected 'scorer hard' to be 'x'"],
    ['scorer soft', "expected 'scorer soft' to be 'x'"],
    ['scorer fails', 'fail is not a function'],
    ['scorer rejects', 'the scorer rejects'],
  ] as const) {
    expect(state(id), id).toBe('failed')
    expect(Object.values(run.cell('expects', id).scores).map(({ error }) => error ?? '')).toContainEqual(
      expect.stringContaining(message),
    )
  }
  // Each red test points into the eval file.
  const blocks = output.split(/^ FAIL /m).slice(1)
  expect(blocks).toHaveLength(8)
  for (const block of blocks) expect(block).toMatch(/❯ .*expects\.eval\.ts:\d+:\d+/)
})
