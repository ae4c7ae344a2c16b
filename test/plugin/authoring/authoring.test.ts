import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectCleanOutput, inspectRun, jsonStates } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

describe('a whole run', () => {
  test('every way to write a campaign gives its cells, its records and its verdict', async () => {
    const root = await project('authoring')
    const { code, output } = await runVitest(root, [
      '--reporter=default',
      '--reporter=json',
      '--outputFile=states.json',
    ])
    expect(code, output).toBe(0)
    expectCleanOutput(output)
    const states = jsonStates(await readFile(join(root, 'states.json'), 'utf8'))
    const run = await inspectRun(root)

    expect(Object.keys(states).filter((name) => name.startsWith('record > '))).toEqual([
      'record > a > s1 > seed 3',
      'record > b > s1 > seed 3',
      'record > a > s2 > seed 3',
      'record > b > s2 > seed 3',
      'record > a > s1 > seed 7',
      'record > b > s1 > seed 7',
      'record > a > s2 > seed 7',
      'record > b > s2 > seed 7',
      'record > coverage',
    ])
    expect(run.of('record').map(({ variantId, score }) => `${variantId} ${score}`)).toEqual([
      'a 1',
      'b 0',
      'a 1',
      'b 0',
      'a 1',
      'b 0',
      'a 1',
      'b 0',
    ])
    expect(states['async > gate']).toBe('passed')
    expect(run.of('async')).toHaveLength(12)
    expect(run.derived.campaigns.get('async')?.plan.seeds).toEqual([0, 1])
    expect(output).toMatch(/^PASS {2}.*\n(.*\n)*?async {2}pr gate/m)

    const kept = run.cell('notes', 'kept')
    expect(kept).toMatchObject({
      status: 'scored',
      metrics: { steps: 3 },
      tags: { colour: 'green' },
      agentProfile: {
        id: 'tester@2',
        source: { kind: 'inline', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        digest: expect.stringMatching(/^sha256-jcs:/),
      },
    })
    const [artifact] = await readdir(join(run.dir, 'artifacts', kept.cellId))
    expect(await readFile(join(run.dir, 'artifacts', kept.cellId, artifact ?? ''), 'utf8')).toBe('a note')
    expect(run.cell('notes', 'fails')).toMatchObject({
      status: 'task_fail',
      failure: { class: 'unknown', message: 'the agent gave up' },
    })
    expect(run.cell('notes', 'typed')).toMatchObject({
      status: 'task_fail',
      failure: { class: 'timeout', mode: 'tool' },
    })
    expect(run.cell('notes', 'asserts')).toMatchObject({ status: 'task_fail', failure: { mode: 'assertion' } })
    expect(run.cell('notes', 'low')).toMatchObject({ status: 'scored', score: 0 })
    for (const [name, state] of Object.entries(states)) if (name.startsWith('notes')) expect(state, name).toBe('passed')

    expect(run.cell('scorers', 'even').scores).toMatchObject({
      half: { value: 0.5, pass: false },
      isTwo: { value: 1, pass: true },
      reasoned: { value: 1, rationale: 'n is 2' },
      evenOnly: { value: 1, pass: true },
      quiet: { value: null },
    })
    const odd = run.cell('scorers', 'odd')
    expect(odd).toMatchObject({ score: 0.75, pass: true, scores: { half: { value: 0.75, pass: true } } })
    expect(odd.scores).not.toHaveProperty('evenOnly')

    expect(states).toMatchObject({
      'skipped > v > s > seed 0': 'skipped',
      'beside-skipped > v > s > seed 0': 'passed',
      'chosen > v > s > seed 0': 'passed',
      'beside-only > v > s > seed 0': 'skipped',
    })
    expect(run.of('skipped')).toEqual([])
    expect(run.of('beside-only')).toEqual([])
    expect(output).toContain('campaign beside-only: skipped')
  })

  test('-t runs the cells it names, and the gate says why it gives no verdict', async () => {
    const root = await project('authoring')
    const { code, output } = await runVitest(root, ['shapes', '-t', 'a > s1', '--reporter=verbose'])
    expect(code, output).toBe(0)
    expectCleanOutput(output)
    expect(output).toMatch(/async > gate .*\[2 of 12 cells selected/)
    expect(output).toContain('campaign async: 2 of 12 cells selected')
    expect(output).toContain('campaign record: 2 of 8 cells selected')
    const run = await inspectRun(root)
    expect(run.of('async').map(({ variantId, scenarioId, seed }) => [variantId, scenarioId, seed])).toEqual([
      ['a', 's1', 0],
      ['a', 's1', 1],
    ])
    expect(run.of('notes')).toEqual([])
    expect(run.reports).toEqual({})
  })
})
