import { describe, expect, test } from 'vitest'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { printed, project, startVitest } from '../../harness/run-vitest.ts'

/** Runs the forty cells, ten at a time, and sends the signals once ten are in flight. */
async function stopped(env: NodeJS.ProcessEnv, ...signals: readonly NodeJS.Signals[]) {
  const root = await project('signals')
  const run = startVitest(root, [], env)
  await printed(run, 'TEN IN FLIGHT')
  for (const [i, signal] of signals.entries()) {
    if (i > 0) await printed(run, 'in flight get')
    run.child.kill(signal)
  }
  const result = await run.done
  return { root, ...result }
}

const counts = (statuses: readonly string[]): Record<string, number> => {
  const count: Record<string, number> = {}
  for (const status of statuses) count[status] = (count[status] ?? 0) + 1
  return count
}

describe('a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s lets the cells in flight finish and starts no other', async (signal, code) => {
    const { root, output, ...end } = await stopped({ SHUTDOWN_MS: '60000' }, signal)
    expect(end, output).toEqual({ code, signal: null })
    expectCleanOutput(output)
    expect(output).toContain(`${signal}: no new cells; 10 in flight get 60 s to finish`)
    const run = await inspectRun(root)
    expect(counts(run.of('waits').map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()))).toEqual({
      scored: 10,
      'not_run interrupted': 30,
    })
    expect(run.derived.end).toBe('interrupted')
    expect(output.replace(/\s+/g, ' ')).toContain(
      'FAIL the run was interrupted: 10 of 40 cells have a result; run it again',
    )
    expect(output).toMatch(/Tests {2}10 passed \| \d+ skipped/)
    // One thread at a time: files that wait for it are named, since nobody knows what they hold.
    expect(output).toMatch(/interrupted before these eval files were loaded: later-[123]\.eval\.ts/)
  })

  test('a subject that heeds its signal is aborted after the shutdown timeout', async () => {
    const { root, output, ...end } = await stopped({ SUBJECT: 'heeds', SHUTDOWN_MS: '300' }, 'SIGINT')
    expect(end, output).toEqual({ code: 130, signal: null })
    expectCleanOutput(output)
    const run = await inspectRun(root)
    expect(counts(run.of('waits').map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()))).toEqual({
      'infra_error interrupted': 10,
      'not_run interrupted': 30,
    })
  })

  test('the second one aborts at once', async () => {
    const { root, output, ...end } = await stopped({ SUBJECT: 'heeds', SHUTDOWN_MS: '600000' }, 'SIGINT', 'SIGINT')
    expect(end, output).toEqual({ code: 130, signal: null })
    expect(output).toContain('second SIGINT: aborting the cells in flight now')
    const run = await inspectRun(root)
    expect(run.of('waits').filter(({ status }) => status === 'infra_error')).toHaveLength(10)
  })

  test('a subject that ignores its signal does not keep the process', async () => {
    const { root, output, ...end } = await stopped({ SUBJECT: 'ignores', SHUTDOWN_MS: '300' }, 'SIGINT')
    expect(end, output).toEqual({ code: 130, signal: null })
    const run = await inspectRun(root)
    expect(run.of('waits').filter(({ status }) => status === 'infra_error')).toHaveLength(10)
  })

  test('a file that loads for ever ends with its thread', async () => {
    const root = await project('signals')
    const run = startVitest(root, ['later-1'], { LOADS: 'never' })
    await printed(run, 'LOADING')
    run.child.kill('SIGINT')
    await printed(run, 'in flight get')
    run.child.kill('SIGINT')
    const { output, ...end } = await run.done
    expect(end, output).toEqual({ code: 130, signal: null })
    expect(output).toContain('SIGINT, and its file did not end within 3 s')
  })

  test('a synchronous loop ends with its thread', async () => {
    const { root, output, ...end } = await stopped({ SUBJECT: 'loop', SHUTDOWN_MS: '300' }, 'SIGINT')
    expect(end, output).toEqual({ code: 130, signal: null })
    expectCleanOutput(output)
    const run = await inspectRun(root)
    const statuses = counts(run.of('waits').map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()))
    expect(output).toContain(
      'its cells did not answer for 3 s (a synchronous loop?). 10 cells end as infra_error (interrupted)',
    )
    expect(Object.keys(statuses).toSorted()).toEqual(['infra_error interrupted', 'not_run interrupted'])
  })
})
