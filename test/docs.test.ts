import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { transformWithOxc } from 'vite'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { findCommand } from '../src/cli/arguments.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { COMMON_OPTIONS } from '../src/cli/help.ts'
import { EVALS_VARIABLES } from '../src/plugin/env.ts'
import { evals } from '../src/plugin/index.ts'
import { CampaignsOptions } from '../src/plugin/options.ts'
import { expectCleanOutput, inspectRun } from './harness/inspect.ts'
import { runCli } from './harness/run-cli.ts'
import { newestRun, project, REPOSITORY, runKeptVitest as runVitest, VITEST } from './harness/run-vitest.ts'
import { type Answer, completion, startProvider } from './plugin/modes/provider.ts'

/** Samples of a page that name the file they are: path → text. */
async function samples(page: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(REPOSITORY, page), 'utf8')
  const blocks = text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)
  return new Map([...blocks].map(([, path = '', body = '']) => [path, body]))
}

/** A judge of the samples likes everything. */
const judging: Answer = ({ body }, response) => {
  if (!body.includes('You are judging')) return false
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(completion('gpt-5', '{"rationale": "It is.", "pass": true}', 40))
  return true
}

/** The samples of a page as a project, run as a reader would: recorded from a provider, then replayed without it. */
async function tryOut(page: string, extra: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider(judging)
  const root = await project('docs')
  const files = { ...extra, ...Object.fromEntries(await samples(page)) }
  await place(root, files)
  const first = await runVitest(root, ['--project', 'evals'], provider.env)
  expect(first.code, first.output).toBe(0)
  expectCleanOutput(first.output)
  const live = await inspectRun(root)
  provider.fresh()
  const again = await runVitest(root, ['--project', 'evals'], { ...provider.env, CI: '1' })
  expect(again.code, again.output).toBe(0)
  expect(provider.fresh()).toEqual([])
  return { root, live, replayed: await inspectRun(root), output: first.output }
}

/** Every page that has samples. */
const PAGES = [
  'README.md',
  ...(await readdir(join(REPOSITORY, 'docs')))
    .filter((name) => /\.(?:md|txt)$/.test(name))
    .map((name) => `docs/${name}`),
]

test('the samples of the README run as they stand there', async () => {
  const { live, replayed } = await tryOut('README.md')
  expect(live.of('triage').map(({ status, provenance }) => `${status} ${provenance}`)).toEqual(
    Array(6).fill('scored live'),
  )
  expect(replayed.of('triage').map(({ provenance }) => provenance)).toEqual(Array(6).fill('replayed'))
})

test('the samples of the authoring page run as they stand there', async () => {
  const config = 'vitest.config.ts'
  const { live } = await tryOut('docs/authoring.md', {
    [config]: (await samples('README.md')).get(config) ?? '',
  })
  expect(live.cell('agent', 'refund')).toMatchObject({ status: 'scored', score: 1, metrics: { characters: 9 } })
  expect(live.cell('agent', 'empty')).toMatchObject({ status: 'task_fail', failure: { class: 'policy_violation' } })
  expect(live.of('scorers').map(({ score }) => score)).toEqual([1, 0, 1, 0])
  expect(live.of('scorers').map(({ scores }) => [scores.stars?.value, scores.stars?.pass])).toEqual([
    [5, true],
    [2, false],
    [5, true],
    [2, false],
  ])
  expect(live.cell('judged', 'refund').scores.polite).toMatchObject({ pass: true, rationale: 'It is.' })
  expect(live.cell('code', 'add').scores.works).toMatchObject({ pass: true, role: 'command' })
  expect(live.reports.gate?.verdict.red).toBe(false)
  expect(live.reports.gate?.candidates[0]?.guardrails.map(({ name }) => name).toSorted()).toEqual([
    'brief',
    'latency',
    'passRate',
  ])
})

test('the samples of getting started run as they stand there, and their records are read by the script of the outputs page', async () => {
  const { root, live, replayed } = await tryOut('docs/getting-started.md')
  expect(live.of('tone').map(({ status, provenance }) => `${status} ${provenance}`)).toEqual(
    Array(32).fill('scored live'),
  )
  expect(replayed.of('tone').map(({ provenance }) => provenance)).toEqual(Array(32).fill('replayed'))

  const script = (await samples('docs/outputs.md')).get('scripts/red.ts') ?? ''
  const { code } = await transformWithOxc(script, 'red.ts')
  await writeFile(join(root, 'red.mjs'), code)
  const { dir } = await newestRun(root)
  const read = await run(
    process.execPath,
    ['red.mjs', join(dir, 'reports/tone.json'), join(dir, 'records.jsonl')],
    root,
  )
  expect(read.output.trim()).toMatch(/^(?:PASS|NO VERDICT) 0 cells did not pass$/)
})

test('the samples of the pages for users of other tools run as they stand there', async () => {
  const root = await project('docs')
  for (const tool of ['evalite', 'promptfoo', 'vitest-evals']) {
    await place(root, Object.fromEntries(await samples(`docs/from-${tool}.md`)))
  }
  const { code, output } = await runVitest(root, ['--project', 'evals'], { CI: '1' })
  expect(code, output).toBe(0)
  expectCleanOutput(output)
  const ran = await inspectRun(root)
  const scores = (campaign: string) => new Set(ran.of(campaign).map(({ score }) => score))
  expect(scores('greeting')).toEqual(new Set([0, 1]))
  expect(scores('translate')).toEqual(new Set([1]))
  expect(scores('refund agent')).toEqual(new Set([1]))
})

test('the sample of accepted records runs, is accepted, and is compared with itself', async () => {
  const root = await project('docs')
  const files = { ...Object.fromEntries(await samples('docs/gates.md')) }
  files['vitest.config.ts'] = (await samples('README.md')).get('vitest.config.ts') ?? ''
  await place(root, files)
  const refused = await runVitest(root, ['--project', 'evals'])
  expect(refused.code).toBe(1)
  const first = await runVitest(root, ['--project', 'evals'], { EVALS_BASELINE: 'new' })
  expect(first.code, first.output).toBe(0)
  const accepted = await runCli(root, ['accept', 'triage'])
  expect(accepted.code, accepted.stderr).toBe(0)
  const compared = await runVitest(root, ['--project', 'evals'])
  expect(compared.code, compared.output).toBe(0)
  expect((await newestRun(root)).reports.triage?.verdict.outcome).toBe('hold')
})

describe('CI', () => {
  interface Step {
    readonly run?: string
    readonly env?: { readonly [name: string]: string }
  }

  /** A runner: `npm`, `npx` and `gh` as far as the steps use them, on a project that is checked out there. */
  async function runner(fixture: string) {
    const root = await project(fixture)
    const bin = join(root, 'bin')
    await mkdir(bin)
    const node = JSON.stringify(process.execPath)
    const tool = (name: string, script: string) => writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    await tool('npm', 'exit 0')
    await tool(
      'npx',
      `tool=$1; shift\ncase $tool in\nvitest) exec ${node} ${JSON.stringify(VITEST)} "$@";;\nvitest-campaign) exec ${node} ${JSON.stringify(join(REPOSITORY, 'dist/cli/main.js'))} "$@";;\nesac`,
    )
    await tool('gh', `exec ${node} ${JSON.stringify(join(REPOSITORY, 'test/harness/gh.mjs'))} "$@"`)
    const comments = join(root, 'comments.json')
    await writeFile(comments, '[]')
    const env = { PATH: `${bin}:${process.env.PATH}`, CI: '1', NO_COLOR: '1', HOME: root, GH_COMMENTS: comments }
    const shell = (script: string, more: object = {}) =>
      run('bash', ['-e', '-o', 'pipefail', '-c', script], root, { ...env, ...more })
    const stored = async () =>
      JSON.parse(await readFile(comments, 'utf8')) as { id: number; body: string; user: { login: string } }[]
    return { root, shell, stored, comments }
  }

  const yamlOf = async (path: string): Promise<unknown> => {
    const text = await readFile(join(REPOSITORY, 'docs/ci.md'), 'utf8')
    const block = [...text.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].find(([, name]) => name === path)
    return parseYaml(block?.[2] ?? '')
  }

  test('the jobs for shards run, each on its own machine, and the last gives the verdict', async () => {
    const text = await readFile(join(REPOSITORY, 'docs/shards.md'), 'utf8')
    const { jobs } = parseYaml(/^```yaml\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '') as {
      jobs: {
        evals: { strategy: { matrix: { shard: readonly number[] } }; steps: readonly ShardStep[] }
        verdict: { needs: string; steps: readonly ShardStep[] }
      }
    }
    interface ShardStep extends Step {
      readonly uses?: string
      readonly with?: { readonly [name: string]: string | boolean | number }
    }
    const artifacts = new Map<string, string>()
    /** A machine of its own; gives what each command ended with. */
    const play = async (steps: readonly ShardStep[], shard: number) => {
      const { root, shell } = await runner('shards')
      const fill = (value: unknown): string =>
        String(value).replace(/\$\{\{ (\S+) \}\}/g, (_, name: string) =>
          name === 'matrix.shard' ? String(shard) : name === 'secrets.OPENAI_API_KEY' ? '' : `unknown: ${name}`,
        )
      const ended: [command: string, code: number | null, output: string][] = []
      for (const { run: script, uses = '', with: given = {}, env = {} } of steps) {
        if (script !== undefined) {
          const more = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
          const { code, output } = await shell(fill(script), { ...more, GITHUB_ACTIONS: 'true' })
          ended.push([fill(script), code, output])
        } else if (uses.startsWith('actions/upload-artifact@')) {
          // A folder whose name begins with a dot is left out otherwise.
          expect(given['include-hidden-files']).toBe(true)
          artifacts.set(fill(given.name), join(root, fill(given.path)))
        } else if (uses.startsWith('actions/download-artifact@')) {
          const pattern = new RegExp(`^${fill(given.pattern).replace('*', '.*')}$`)
          for (const [name, folder] of artifacts) {
            if (pattern.test(name)) await cp(folder, join(root, fill(given.path), name), { recursive: true })
          }
        }
      }
      return ended
    }
    const { evals: shards, verdict } = jobs
    expect(verdict.needs).toBe('evals')
    for (const shard of shards.strategy.matrix.shard) {
      for (const [command, code, output] of await play(shards.steps, shard))
        expect([command, code], output).toEqual([command, 0])
    }
    expect([...artifacts.keys()]).toEqual(['shard-1', 'shard-2', 'shard-3'])
    const [, merged, gate] = await play(verdict.steps, 0)
    expect(merged?.slice(0, 2), merged?.[2]).toEqual(['npx vitest-campaign merge shards/*/2*', 0])
    expect(merged?.[2]).toMatch(/COVERAGE +96 planned: 96 scored/)
    expect(gate?.slice(0, 2), gate?.[2]).toEqual(['npx vitest-campaign gate', 0])
    expect(gate?.[2]).toContain('PASS')
  })

  test('the workflow for GitHub comments once, edits its comment afterwards, and leaves those of others alone', async ({
    skip,
  }) => {
    if ((await run('jq', ['--version'], REPOSITORY)).code !== 0) skip('jq is not installed: gh brings its own')
    const workflow = (await yamlOf('.github/workflows/evals.yml')) as { jobs: { evals: { steps: Step[] } } }
    const steps = workflow.jobs.evals.steps.filter((step): step is Step & { run: string } => step.run !== undefined)
    expect(steps.map(({ run: script }) => script.split('\n')[0])).toEqual([
      'npm ci',
      'npx vitest run --project evals',
      'file=".evals/$(cat .evals/latest)/comment.md"',
    ])
    const { root, shell, stored, comments } = await runner('outputs')
    await writeFile(
      comments,
      JSON.stringify([{ id: 1, body: '<!-- vitest-campaign:evals --> mine', user: { login: 'somebody' } }]),
    )
    const github = { GITHUB_REPOSITORY: 'o/r', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(root, 'summary.md') }
    const expressions: { readonly [expression: string]: string } = {
      'github.token': 'token',
      'github.repository': 'o/r',
      'github.event.pull_request.number': '7',
    }
    const play = async () => {
      const codes: (number | null)[] = []
      for (const { run: script, env = {} } of steps) {
        const given = Object.entries(env).map(([name, value]) => [
          name,
          value.replace(/\$\{\{ (\S+) \}\}/g, (_, expression) => expressions[expression] ?? `unknown: ${expression}`),
        ])
        const { code, output } = await shell(script, { ...github, ...Object.fromEntries(given) })
        codes.push(code)
        if (script.startsWith('file=')) expect(code, output).toBe(0)
      }
      return codes
    }
    // The fixture's red campaign is in it: the step that runs Vitest fails, the comment is posted all the same.
    expect(await play()).toEqual([0, 1, 0])
    const [others, first, ...none] = await stored()
    expect(none).toEqual([])
    expect(others?.body).toBe('<!-- vitest-campaign:evals --> mine')
    expect(first?.body).toMatch(/^<!-- vitest-campaign:evals -->\n\n### ❌ FAIL: worse is worse/)
    await rm(join(root, 'red.eval.ts'))
    expect(await play()).toEqual([0, 0, 0])
    const again = await stored()
    expect(again).toHaveLength(2)
    expect(again[1]).toMatchObject({
      id: first?.id,
      body: expect.stringMatching(/^<!-- vitest-campaign:evals -->\n\n### ✅ PASS/),
    })
    expect(await readFile(join(root, 'summary.md'), 'utf8')).toMatch(/^### ✅ PASS/m)
  })

  test('the job for GitLab runs, and its report is where it says', async () => {
    const jobs = (await yamlOf('.gitlab-ci.yml')) as {
      evals: { script: string[]; artifacts: { paths: string[]; reports: { junit: string } } }
    }
    const { root, shell } = await runner('outputs')
    const { code } = await shell(jobs.evals.script.join('\n'))
    expect(code).toBe(1)
    const { output } = await shell(`ls ${jobs.evals.artifacts.reports.junit}`)
    expect(await readFile(join(root, output.trim()), 'utf8')).toMatch(/^<\?xml/)
  })
})

describe('every page', () => {
  test.each(PAGES)('%s: its samples have a name, its commands are there, its links lead somewhere', async (page) => {
    const text = await readFile(join(REPOSITORY, page), 'utf8')
    for (const [, block = ''] of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
      // A piece of a configuration is one that evals() takes.
      if (block.startsWith('evals(')) new Function('evals', `return ${block}`)(evals)
      else expect(block).toMatch(/^\/\/ \S+\.ts\n/)
    }
    for (const [, line = ''] of text.matchAll(/npx vitest-campaign ([^`\n#|&]*)/g)) {
      const [name = '', ...rest] = line.trim().split(/\s+/)
      if (name.startsWith('-')) continue
      const command = findCommand(COMMANDS, name)
      const options = rest.filter((word) => word.startsWith('--'))
      for (const option of options) {
        expect(Object.keys({ ...command.options, ...COMMON_OPTIONS }), `${page}: ${line}`).toContain(option.slice(2))
      }
    }
    for (const [, link = ''] of text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^https?:/.test(link)) continue
      expect(existsSync(join(REPOSITORY, dirname(page), link)), `${page} links to ${link}`).toBe(true)
    }
  })
})

async function place(root: string, files: { readonly [path: string]: string }): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env) {
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    execFile(command, [...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
        output: stdout + stderr,
      })
    })
  })
}

/** Every option that has no options of its own, as the table of options names it. */
function optionsOf(schema: unknown, path = ''): string[] {
  if (schema instanceof z.ZodOptional) return optionsOf(schema.unwrap(), path)
  if (schema instanceof z.ZodArray && schema.element instanceof z.ZodObject)
    return optionsOf(schema.element, `${path}[]`)
  if (!(schema instanceof z.ZodObject)) return [path]
  return Object.entries(schema.shape).flatMap(([key, value]) => optionsOf(value, path === '' ? key : `${path}.${key}`))
}

test('the page of options has a row for every option, and one for every variable of the environment', async () => {
  const page = await readFile(join(REPOSITORY, 'docs/options.md'), 'utf8')
  const [options = '', variables = ''] = page.split('## Environment')
  const rows = (text: string) => [...text.matchAll(/^\| `([^`]+)` \|.*$/gm)]
  expect(rows(options).map(([, name]) => name)).toEqual(optionsOf(CampaignsOptions))
  expect(rows(variables).map(([row]) => row)).toEqual(
    Object.entries(EVALS_VARIABLES).map(([name, { values, does }]) => `| \`${name}\` | ${values} | ${does} |`),
  )
})
