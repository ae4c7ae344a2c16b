import { chai, expect } from 'vitest'
import type { WorkerBridge } from './bridge.ts'

/** What `expect.soft` found while a `run` was executing; the shape in which Vitest's matchers report to a test. */
export interface SoftFailures {
  readonly result: { state: string; errors: { readonly message?: string; readonly stack?: string }[] }
}

/** Cells whose `run` executes, by id. */
const running = new Map<string, SoftFailures>()

/** Gathers the soft failures of a cell until `end` is called, which gives them back as one error. */
export function gatherSoftFailures(cellId: string): { readonly end: () => Error | null } {
  const failures: SoftFailures = { result: { state: 'run', errors: [] } }
  running.set(cellId, failures)
  return {
    end() {
      running.delete(cellId)
      const { errors } = failures.result
      const [first] = errors
      if (first === undefined) return null
      const error = new Error(errors.map(({ message }) => message ?? 'a soft assertion failed').join('\n'))
      error.name = 'AssertionError'
      if (first.stack !== undefined) error.stack = first.stack
      return error
    },
  }
}

const adapted = new WeakSet<object>()

/**
 * Makes the imported `expect` fit for cells. What it keeps per test it keeps for the test that was started last, and
 * cells run side by side: `expect.soft` would fail another cell, and a number of assertions every one.
 *
 * In `run` soft failures are gathered for the cell; in a scorer `expect.soft` fails at once, as `expect` does. What
 * cannot be made to fit is refused. Outside cells nothing changes.
 */
export function adaptExpect(bridge: WorkerBridge): void {
  if (adapted.has(expect)) return
  adapted.add(expect)
  const { soft } = expect
  const cellHere = (): string | undefined => bridge.scopes.getStore()?.cellId
  expect.soft = ((...args: Parameters<typeof soft>) => {
    const cellId = cellHere()
    if (cellId === undefined) return soft(...args)
    const failures = running.get(cellId)
    if (failures === undefined) return expect(...args)
    const assertion = soft(...args)
    chai.util.flag(assertion, 'vitest-test', failures)
    return assertion
  }) as typeof soft
  const instead = {
    assertions: 'throw an error where an assertion is missing',
    hasAssertions: 'throw an error where an assertion is missing',
    poll: 'use vi.waitFor() around expect()',
  } as const
  for (const [name, advice] of Object.entries(instead)) {
    const original: unknown = Reflect.get(expect, name)
    if (typeof original !== 'function') continue
    const guarded = (...args: unknown[]): unknown => {
      if (cellHere() === undefined) return Reflect.apply(original, expect, args)
      const error = new Error(
        `expect.${name}() does not work in a cell: Vitest counts for the test that was started last, and cells run side by side; ${advice}`,
      )
      Error.captureStackTrace(error, guarded)
      throw error
    }
    Reflect.set(expect, name, guarded)
  }
}
