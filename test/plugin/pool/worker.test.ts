import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectCleanOutput, inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runVitest, startVitest } from '../../harness/run-vitest.ts'

describe('one run of many files', () => {
  test('loses only what dies, and reports the rest', async () => {
    const root = await project('pool')
    const { code, output } = await runVitest(root, [], { OPENAI_API_KEY: '' })
    expect(code, output).toBe(1)
    expectCleanOutput(output)
    const run = await inspectRun(root)

    expect(output).toContain('✓ |unit| unit.test.ts')
    expect(output).toContain("the user's reporter is still here")
    expect(output).toContain('console.log of a cell')
    expect(output).toContain('stdout of a cell')
    expect(output).toContain('stderr of a cell')

    expect(run.of('many')).toHaveLength(2000)
    expect(run.reports.many?.variants.map(({ id }) => id)).toEqual(['a', 'b'])

    const [project_, dotenv, key] = JSON.parse(run.cell('speaks', 'env').output?.preview ?? '[]') as string[]
    expect([project_, dotenv]).toEqual(['project', 'dotenv'])
    expect(key).toMatch(/placeholder/i)
    expect(run.cell('speaks', 'exits')).toMatchObject({ status: 'task_fail' })
    expect(run.cell('speaks', 'output')).toMatchObject({ status: 'scored' })

    expect(run.cell('dies', 'before').status).toBe('scored')
    for (const scenario of ['death', 'after']) {
      expect(run.cell('dies', scenario)).toMatchObject({ status: 'infra_error', reason: 'worker-lost' })
    }
    expect(output).toContain(
      'A campaign worker was lost: its thread ended without an error. 2 cells end as infra_error',
    )
    expect(output).toContain('  dies > v > death > seed 0')
    expect(run.cell('oom', 'greedy')).toMatchObject({ status: 'infra_error', reason: 'worker-lost' })
    expect(output).toMatch(/A campaign worker was lost: .*memory/i)
    expect(run.reports.dies?.verdict.red).toBe(true)
    expect(run.reports.oom?.verdict.red).toBe(true)
    expect(run.reports.many?.verdict.red).toBe(false)
  })

  test('with --project, other reporters and env: false', async () => {
    const root = await project('pool')
    const { code, output } = await runVitest(
      root,
      ['speaks', '--project', 'evals', '--reporter=json', '--outputFile=states.json'],
      { DOTENV: 'off' },
    )
    expect(code, output).toBe(1)
    expect(output).not.toContain('unit.test.ts')
    // Ours stays under --reporter.
    expect(output).toContain('speaks  no gate')
    expect(jsonStates(await readFile(join(root, 'states.json'), 'utf8'))).toMatchObject({
      'speaks > v > output > seed 0': 'passed',
      'speaks > v > exits > seed 0': 'failed',
      'speaks > coverage': 'passed',
    })
    const run = await inspectRun(root)
    expect(JSON.parse(run.cell('speaks', 'env').output?.preview ?? '[]')).toEqual([
      'project',
      null,
      expect.stringMatching(/placeholder/i),
    ])
  })

  test('--reporter=dot alone keeps the verdict; a project that is not named runs nothing of ours', async () => {
    const root = await project('pool')
    const dot = await runVitest(root, ['speaks', '--reporter=dot'])
    expect(dot.output).toContain('speaks  no gate')
    const unit = await project('pool')
    const { code, output } = await runVitest(unit, ['--project', 'unit'])
    expect(code, output).toBe(0)
    expect(output).not.toContain('NO VERDICT')
    expect(await readdir(unit)).not.toContain('.evals')
  })

  test('vitest list names the cells and writes nothing', async () => {
    const root = await project('pool')
    const { code, output } = await startVitest(root, ['speaks'], {}, 'list').done
    expect(code, output).toBe(0)
    expectCleanOutput(output)
    expect(output).toContain('speaks.eval.ts > speaks > v > output > seed 0')
    expect(output).toContain('speaks.eval.ts > speaks > coverage')
    await expect(access(join(root, '.evals'))).rejects.toThrow('ENOENT')
  })

  test.each(['list', 'run'] as const)('vitest %s waits for a thread that stops late', async (command) => {
    const root = await project('lingers')
    const { code, output } = await startVitest(root, [], {}, command).done
    expect(code, output).toBe(0)
    expectCleanOutput(output)
    expect(output).toMatch(command === 'list' ? 'lingers > v > output > seed 0' : '2 passed')
  })
})

test.each(['extends', 'bare'])('the project entry written another way: %s', async (fixture) => {
  const root = await project('entries')
  const { code, output } = await runVitest(root, ['--project', fixture], {})
  expect(code, output).toBe(0)
  expectCleanOutput(output)
  const run = await inspectRun(root)
  expect(run.cell('entry', 's')).toMatchObject({ status: 'scored', output: { preview: `aliased in ${fixture}` } })
  expect(run.derived.run?.project).toBe(fixture)
})

test('two files in two threads share one cap', async () => {
  const root = await project('cap')
  const { code, output } = await runVitest(root, ['--project', 'evals'])
  expect(code, output).toBe(0)
  expectCleanOutput(output)
  // Files whose plans come at the same moment are told of together, once.
  const plans = output.split('\nPLAN ').slice(1)
  expect(plans.at(-1)).toContain('2 campaigns, 48 cells')
  expect(new Set(plans.map((rest) => rest.slice(0, rest.indexOf('\nCALLS')))).size).toBe(plans.length)
  const run = await inspectRun(root)
  expect(run.records.map(({ status }) => status)).toEqual(Array(48).fill('scored'))
  let inFlight = 0
  let peak = 0
  for (const line of (await readFile(join(root, 'gauge.txt'), 'utf8')).trim().split('\n')) {
    inFlight += line.startsWith('+') ? 1 : -1
    peak = Math.max(peak, inFlight)
  }
  expect(peak).toBe(3)
})
