import type { TestModule, TestProject, TestSpecification, Vitest } from 'vitest/node'

interface StaticParser {
  parseSpecifications(specifications: TestSpecification[], options?: object): Promise<TestModule[]>
  collectTests(specifications: TestSpecification[]): Promise<{ readonly testModules: TestModule[] }>
}

const eager = new WeakMap<Vitest, Set<TestProject>>()

/**
 * Vitest 5 lists tests by parsing files, and no parser finds the cells of a campaign: the files of eval projects are
 * collected by running them, as Vitest 4 and `--no-static-parse` do. Nothing to do on Vitest 4.
 */
export function listByCollecting(vitest: Vitest, project: TestProject): void {
  const parser = vitest as Vitest & Partial<StaticParser>
  const { parseSpecifications, collectTests } = parser
  if (parseSpecifications === undefined || collectTests === undefined) return
  const known = eager.get(vitest)
  if (known !== undefined) {
    known.add(project)
    return
  }
  const projects = new Set([project])
  eager.set(vitest, projects)
  parser.parseSpecifications = async (specifications, options) => {
    const own = specifications.filter((specification) => projects.has(specification.project))
    const others = specifications.filter((specification) => !projects.has(specification.project))
    const parsed = others.length === 0 ? [] : await parseSpecifications.call(vitest, others, options)
    if (own.length === 0) return parsed
    return [...parsed, ...(await collectTests.call(vitest, own)).testModules]
  }
}
