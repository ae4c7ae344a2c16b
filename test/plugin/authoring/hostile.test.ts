import { expect, test } from 'vitest'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('whatever throws, no CI command, no control character and no secret of its text is printed', async () => {
  const root = await project('errors')
  const HOSTILE_SECRET = 'correct-horse-battery'
  const { output } = await runVitest(root, ['hostile', '--reporter=verbose'], { HOSTILE_SECRET })
  const places = ['run', 'a property', 'a cause', 'scorer', 'judge', 'loader', 'hook', 'expected', 'asserted', 'import']
  for (const place of places) expect(output, place).toContain(place)
  expect(output).toContain('\\::error')
  expect(output).not.toMatch(/^\s*::error/m)
  expect(output).not.toMatch(/##\[error/)
  expect(output).not.toContain('\u202e')
  expect(output).not.toContain('\x07')
  expect(output).not.toContain(HOSTILE_SECRET)
})
