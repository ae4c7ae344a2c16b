import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectCleanOutput, inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'

test('what cannot be used is refused by name, and everything else of the run runs', async () => {
  const root = await project('bad-input')
  const { code, output } = await runVitest(root, ['--reporter=default', '--reporter=json', '--outputFile=states.json'])
  expect(code, output).toBe(1)
  expectCleanOutput(output.replaceAll(/not undefined|is undefined, which|undefined payload/g, ''))
  const states = jsonStates(await readFile(join(root, 'states.json'), 'utf8'))
  const run = await inspectRun(root)

  for (const [id, message] of [
    ['no variants', 'variants are empty: a campaign needs at least one variant'],
    ['no scenarios', 'scenarios are empty: a campaign needs at least one scenario'],
    ['duplicate ids', 'scenarios[1] has an id that is there twice: "a"'],
    ['empty id', 'scenarios[0] has an id that is empty'],
    ['no id', 'scenarios[0] has no id'],
    ['case ids', 'variants.a has an id that differs from "A" in case'],
    ['duplicate seeds', 'seeds[1] repeats the seed 1'],
    ['fractional seed', 'seeds[0] must be a safe integer, not 0.5'],
    ['nan seeds', 'seeds must be a whole number of repetitions, at least 1, not NaN'],
    ['zero seeds', 'seeds must be a whole number of repetitions, at least 1, not 0'],
    ['throwing scenarios', 'scenarios could not be loaded: scenarios.csv is missing'],
    ['stranger comparator', 'gate.comparator is "nobody", which is no variant; the variants are "v"'],
    ['stranger primary', 'gate.primary is "nothing", which is no scorer; the scorers are "ok"'],
    ['no run', 'run must be a function, not undefined'],
    ['no scorers', 'scorers are empty: a campaign needs at least one scorer'],
    ['undefined payload', 'scenarios.s.due is undefined'],
    ['nan payload', 'scenarios.s.due.days[1] is NaN'],
    ['date payload', 'variants.v.at is an instance of Date'],
    ['cyclic payload', 'scenarios.s.self.self is a cycle'],
    ['unknown option', 'scorer is no option: did you mean "scorers"?'],
    ['', 'has an id that is empty'],
  ] as const) {
    expect(states[`${id} > definition`] ?? states.definition, id).toBe('failed')
    expect(output).toMatch(
      new RegExp(`campaign ${literal(JSON.stringify(id))} \\(bad\\.eval\\.ts:\\d+\\): ${literal(message)}`),
    )
  }
  // The loader of the user, with the line at which it threw.
  expect(output).toMatch(/Caused by: Error: scenarios\.csv is missing\n.*bad\.eval\.ts:\d+/)
  expect(run.cell('good-beside-bad', 's').status).toBe('scored')

  // The first of two campaigns with one id runs, the second does not.
  expect(run.cell('twice in a file', 's').output?.preview).toBe('first')
  expect(run.reports['twice in a file']).toBeDefined()
  expect(output).toContain(
    'campaign "twice in a file" is declared twice: in once.eval.ts:5, which runs, and in once.eval.ts:6, which does not',
  )
  expect(run.of('twice in two files')).toHaveLength(1)
  expect(output).toMatch(/campaign "twice in two files" is declared twice: in (once|again)\.eval\.ts:\d, which runs/)

  expect(output).toContain('the key file is missing')
  expect(output).toContain('import.eval.ts did not load: its campaigns are not in this run')

  // Ids that look like paths are legal, share no file and leave no folder.
  const ids = ['a/b', 'a.b', '../x', '..', 'con', 'A B', 'é😀']
  for (const id of ids) expect(run.cell(id, '../../s').output?.preview).toBe(id)
  expect(Object.keys(run.reports)).toEqual(expect.arrayContaining(ids))
  expect(await readdir(join(run.dir, 'artifacts'))).toEqual(
    expect.arrayContaining(ids.map((id) => run.cell(id, '../../s').cellId)),
  )
  for (const folder of [run.dir, dirname(run.dir), root, dirname(root)]) {
    expect((await readdir(folder)).filter((name) => name.includes('escaped'))).toEqual([])
  }
})

test('a filter does not hide a campaign that cannot be used', async () => {
  const root = await project('bad-input')
  const { code, output } = await runVitest(root, ['bad.eval', '-t', 'good-beside-bad'])
  expect(code, output).toBe(1)
  expect(output).toContain('2 passed')
  expect(output).toContain('21 failed')
  expect((await inspectRun(root)).cell('good-beside-bad', 's').status).toBe('scored')
})

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

describe('a configuration that cannot be used ends before anything runs', () => {
  test.each([
    [
      'numbers',
      [],
      [
        'evals(): capacity.cells: must be an integer ≥ 1, got NaN',
        'capacity.lanes.0.requestsPerMinute: must be an integer ≥ 1, got -1',
        'capacity.lanes.0.tokensPerMinute: must be an integer ≥ 1, got 0',
        'capacity.lanes.1.requestsPerMinute: must be an integer ≥ 1, got Infinity',
        'capacity.lanes.1.tokensPerMinute: must be an integer ≥ 1, got NaN',
        'capacity.lanes.1.rpm is no option: the options are match, ',
        'retry: must be { infra: 0 } or { infra: 1 }, not 1: only infrastructure errors are run again',
      ],
    ],
    ['key', [], 'evals(): capcity is no option: did you mean "capacity"?'],
    ['deep key', [], 'evals(): capacity.lanes.0.concurency is no option: did you mean "concurrency"?'],
    ['project key', [], 'evals(): extend is no option: did you mean "extends"?'],
    ['volatile', [], 'evals(): volatile: '],
    ['passthrough', [], 'evals(): passthrough[0]: "my-service" is no http or https origin'],
    ['mode', ['--project', 'evals'], 'EVALS_MODE="recrod" is no mode; did you mean record?'],
    ['retry', [], "Vitest's retry is 2, and a campaign cannot be retried"],
    ['', ['--retry=1'], "Vitest's retry is 1, and a campaign cannot be retried"],
    ['none', [], 'matches "**/*.nothing.ts". Name the files *.eval.ts'],
  ] as const)('%s %j', async (config, args, message) => {
    const root = await project('bad-input')
    const env = config === 'mode' ? { EVALS_MODE: 'recrod' } : {}
    const { code, output } = await runVitest(root, ['once', ...args], { BAD_CONFIG: config, ...env })
    expect(code, output).toBe(1)
    for (const part of [message].flat()) expect(output).toContain(part)
    expect(output, 'one paragraph, no stack').not.toMatch(/^\s+at /m)
    expect(await readdir(root)).not.toContain('.evals')
  })
})
