import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files of `core` come last and in one piece: a process is kept for the next file only if that may share it. */
class PureLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isPure = ({ project }: TestSpecification): boolean => project.name === 'core'
    return [...sorted.filter((file) => !isPure(file)), ...sorted.filter(isPure)]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: PureLast },
    setupFiles: ['test/harness/fast-check.ts'],
    // Most tests wait for processes that they started; by its default Vitest takes one file at a time on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Whole Vitest runs on fixture projects are among the tests, on machines that are busy with others.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/.scratch/**', 'test/fixtures/**', 'test/core/**'],
          // Fixture projects import the built package.
          globalSetup: ['test/harness/build.ts'],
        },
      },
      {
        extends: true,
        // Pure functions: their files share a process, and what one of them has loaded.
        test: { name: 'core', include: ['test/core/**/*.test.ts'], isolate: false },
      },
    ],
  },
})
