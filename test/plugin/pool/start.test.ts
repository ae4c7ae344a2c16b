import { expect, test } from 'vitest'
import { project, runVitest } from '../../harness/run-vitest.ts'

// Vitest waits a minute for the first word of a worker: more than the time of this test.
test.each([
  ['exits', 'its thread ended without an error'],
  ['throws', 'the telemetry of this company is not set up'],
])('a thread that %s before it has started fails its file at once, with the reason', async (preload, reason) => {
  const root = await project('start')
  const { code, output } = await runVitest(root, [], { PRELOAD: preload })
  expect(code, output).toBe(1)
  expect(output).toContain('Failed to start vitest-campaign worker for test files')
  expect(output).toContain('one.eval.ts')
  expect(output).toContain(`A campaign worker was lost: ${reason}`)
})
