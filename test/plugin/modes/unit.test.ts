import { readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { project, REPOSITORY, runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from './provider.ts'

test("a cell's recording serves an ordinary unit project, through msw and through a fetch of its own", async () => {
  const provider = await startProvider()
  const root = await project('modes')
  const recorded = await runVitest(root, ['--project', 'evals'], provider.env)
  expect(recorded.code, recorded.output).toBe(0)
  provider.fresh()
  const unit = await project('unit-replay')
  await cp(join(root, '__recordings__'), join(unit, '__recordings__'), { recursive: true })
  const result = await runVitest(unit, [], provider.env)
  expect(result.code, result.output).toBe(0)
  expect(result.output).toContain('Tests  1 passed (1)')
  expect(provider.fresh()).toEqual([])
})

test('importing the package loads neither msw nor the recorder', () => {
  const seen = new Set<string>()
  const packages = new Set<string>()
  function visit(file: string): void {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm)) {
      if (from.startsWith('.')) visit(join(dirname(file), from))
      else packages.add(from)
    }
  }
  visit(join(REPOSITORY, 'dist/index.js'))
  expect(packages).toContain('vitest')
  expect([...packages].filter((name) => /^(?:msw|undici|@mswjs)\b/.test(name))).toEqual([])
})
