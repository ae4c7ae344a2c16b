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
      // A verdict's test names its campaign, a cell's its cell.
      const { campaign }: { readonly campaign?: { readonly cellId?: string; readonly campaignId?: string } } =
        test.meta()
      if (campaign?.campaignId !== undefined) campaigns.add(campaign.campaignId)
    }
  }
  return { errors, campaigns }
}
