import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCli } from '../../harness/run-cli.ts'
import { newestRun, project, runVitest } from '../../harness/run-vitest.ts'
import { expectHarmless } from '../harmless-markdown.ts'
import { expectReadable } from '../junit/readers.ts'
import { parseXml } from '../well-formed-xml.ts'

/** A run as a step of GitHub Actions. */
async function onActions(args: readonly string[]) {
  const root = await project('outputs')
  const summaryFile = join(root, 'step-summary.md')
  await writeFile(summaryFile, 'from a step before\n')
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summaryFile, GITHUB_WORKSPACE: root, CI: '1' }
  const { code, output } = await runVitest(root, args, env)
  const summary = await readFile(summaryFile, 'utf8')
  const { dir } = await newestRun(root)
  const read = (file: string): Promise<string> => readFile(join(dir, file), 'utf8')
  return { root, env, dir, code, output, summary, junit: await read('junit.xml'), comment: await read('comment.md') }
}

const commandsOf = (output: string): string[] => output.split('\n').filter((line) => /^\s*::|##\w*\[/.test(line))

describe('a red run on GitHub Actions', () => {
  test('shows its verdict in the summary, annotations, the comment and JUnit, and again from its folder', async () => {
    const run = await onActions(['red.eval.ts'])
    expect(run.code, run.output).toBe(1)

    expect(run.summary).toMatch(/^from a step before\n/)
    expect(run.summary).toContain('## Vitest Test Report')
    const ours = run.summary.slice(run.summary.indexOf('### ❌ FAIL: worse is worse than current on right'))
    expectHarmless(ours)
    expect(ours).toContain('<details><summary>Worst scenarios of worse: 12 scenarios worse')

    // Vitest's own reporter has annotated the verdict, on the line of the campaign; the scenarios are ours.
    const [verdict, ...scenarios] = commandsOf(run.output)
    expect(verdict).toMatch(/^::error file=.*red\.eval\.ts,title=.*,line=4,.*worse is worse than current/)
    expect(scenarios).toHaveLength(9)
    for (const line of scenarios) {
      expect(line).toMatch(
        /^::warning file=red\.eval\.ts,line=4,title=red%3A worse::\\::warning::s\d+\|<b>: 2\/2 → 0\/2, −100\.0 pp$/,
      )
    }

    expect(run.comment).toMatch(/^<!-- vitest-campaign:evals -->\n\n### ❌ FAIL: worse is worse/)
    expectHarmless(run.comment)
    const suites = parseXml(run.junit)
    expectReadable(suites)
    expect(suites.attributes).toMatchObject({ failures: '2', errors: '0' })

    for (const file of ['junit.xml', 'comment.md']) await rm(join(run.dir, file))
    await writeFile(run.env.GITHUB_STEP_SUMMARY, '')
    // From where the run was started: the command that reruns a scenario is typed there.
    const again = await runCli(process.cwd(), ['report', '--root', run.root, '--github'], run.env)
    expect(again.code, again.stderr).toBe(0)
    expect(await readFile(join(run.dir, 'junit.xml'), 'utf8')).toBe(run.junit)
    expect(await readFile(join(run.dir, 'comment.md'), 'utf8')).toBe(run.comment)
    expect(await readFile(run.env.GITHUB_STEP_SUMMARY, 'utf8')).toBe(`\n${ours}`)
    const commands = commandsOf(again.stdout)
    expect(commands[0]).toMatch(/^::error file=red\.eval\.ts,line=4,title=FAIL%3A red::worse is worse/)
    expect(commands.slice(1)).toEqual(scenarios)
  })

  test('that lost an eval file says so everywhere', async () => {
    const root = await project('outputs')
    await writeFile(join(root, 'broken.eval.ts'), 'throw new Error("no such module")')
    const summaryFile = join(root, 'summary.md')
    const { code } = await runVitest(root, ['broken.eval.ts', 'green.eval.ts'], {
      GITHUB_ACTIONS: 'true',
      GITHUB_STEP_SUMMARY: summaryFile,
    })
    expect(code).toBe(1)
    const { dir } = await newestRun(root)
    for (const path of [summaryFile, join(dir, 'comment.md')]) {
      const text = await readFile(path, 'utf8')
      expect(text).toMatch(/^### ❌ FAIL: broken\.eval\.ts did not load/m)
      expect(text).toMatch(/^### ✅ PASS: /m)
    }
    const suites = parseXml(await readFile(join(dir, 'junit.xml'), 'utf8'))
    expect(suites.children[0]?.children[0]?.children[0]).toMatchObject({ name: 'error' })
  })
})

test('a green run on GitHub Actions shows its verdict', async () => {
  const run = await onActions(['green.eval.ts'])
  expect(run.code, run.output).toBe(0)
  expect(run.summary).toMatch(/^### ✅ PASS: /m)
  expect(commandsOf(run.output)).toEqual([
    expect.stringMatching(/^::notice file=green\.eval\.ts,line=3,title=PASS%3A green::/),
  ])
  expect(run.comment).toMatch(/\n### ✅ PASS: /)
  const suites = parseXml(run.junit)
  expectReadable(suites)
  expect(suites.attributes).toMatchObject({ failures: '0', errors: '0' })
})

test('elsewhere nothing goes to GitHub, and the files are written all the same', async () => {
  const root = await project('outputs')
  const summaryFile = join(root, 'summary.md')
  const { output } = await runVitest(root, ['green.eval.ts'], { GITHUB_STEP_SUMMARY: summaryFile })
  expect(commandsOf(output)).toEqual([])
  await expect(readFile(summaryFile)).rejects.toThrow(/ENOENT/)
  const { dir } = await newestRun(root)
  expect(await readFile(join(dir, 'junit.xml'), 'utf8')).toMatch(/^<\?xml/)
})
