import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/.scratch/**', 'test/fixtures/**'],
    // Fixture projects import the built package.
    globalSetup: ['test/harness/build.ts'],
    setupFiles: ['test/harness/fast-check.ts'],
    // Most tests wait for processes that they started; by its default Vitest takes one file at a time on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Whole Vitest runs on fixture projects are among the tests, on machines that are busy with others.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
