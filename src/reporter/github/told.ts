import type { TestModule } from 'vitest/node'
import type { Told } from './actions.ts'

/**
 * What Vitest's own reporter for GitHub Actions has annotated: the errors of every failed test, of which a red verdict is
 * one. A green verdict is none of them.
 */
export function toldBy(modules: readonly TestModule[], reporters: readonly unknown[]): Told {
  const campaigns = new Set<string>()
  let errors = 0
  if (!reporters.some((entry) => Array.isArray(entry) && entry[0] === 'github-actions')) return { errors, campaigns }
  for (const module of modules) {
    for (const test of module.children.allTests('failed')) {
      errors += test.result().errors?.length ?? 0
      const { campaign }: { readonly campaign?: unknown } = test.meta()
      // A cell's test says of itself that it is one; what fails beside the cells of a campaign is its verdict.
      if (campaign === undefined && test.parent.type === 'suite') campaigns.add(test.parent.name)
    }
  }
  return { errors, campaigns }
}
