import { execFileSync } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newestRun, project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { recordings, timeless } from './project.ts'
import { startProvider } from './provider.ts'

const NAMED = ['--project', 'evals', 'chat.eval.ts']

test('EVALS_REPLAY serves what a run captured, with no recording and no network', async () => {
  const provider = await startProvider()
  const root = await project('modes')
  await runVitest(root, NAMED, { ...provider.env, EVALS_MODE: 'live' })
  const live = await newestRun(root)
  const [id = ''] = (await readdir(join(root, '.evals'))).filter((name) => /^\d/.test(name))
  expect(provider.fresh().length).toBeGreaterThan(0)

  const again = await runVitest(root, NAMED, { ...provider.env, EVALS_REPLAY: id })
  expect(again.code, again.output).toBe(0)
  const replayed = await newestRun(root)
  expect(replayed.records.map(timeless)).toEqual(live.records.map(timeless))
  expect(new Set(replayed.records.map(({ provenance }) => provenance))).toEqual(new Set(['replayed']))
  expect([provider.fresh(), await recordings(root)]).toEqual([[], {}])

  // That one made no live call: there is nothing in it to replay.
  const of = await runVitest(root, NAMED, { ...provider.env, EVALS_REPLAY: 'latest' })
  expect([of.code, of.output.replaceAll(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringContaining('not live in the run that this one replays (EVALS_REPLAY=latest), which captured nothing'),
  ])

  const changed = await runVitest(root, NAMED, { ...provider.env, EVALS_REPLAY: id, PROMPT: 'Be brief.' })
  expect(changed.code).toBe(1)
  expect(changed.output).toContain(`.evals/${id}`)
  const none = await runVitest(root, NAMED, { ...provider.env, EVALS_REPLAY: 'nowhere' })
  expect([none.code, none.output]).toEqual([1, expect.stringContaining('EVALS_REPLAY=nowhere: there is no run')])
  const both = await runVitest(root, NAMED, { ...provider.env, EVALS_REPLAY: id, EVALS_MODE: 'record' })
  expect(both.output).toContain('contradict each other')
  expect(provider.fresh()).toEqual([])
})

test('cells that replay what the same change recorded are counted', async () => {
  const provider = await startProvider()
  const root = await project('modes')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: root })
  await writeFile(join(root, '.gitignore'), 'node_modules\n.evals\n')
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'eval files')
  git('switch', '-qc', 'change')
  await runVitest(root, NAMED, provider.env)
  git('add', '-A')
  git('commit', '-qm', 'recordings')
  await runVitest(root, NAMED, { ...provider.env, CI: '1' })
  const warnings = async () =>
    Object.values((await newestRun(root)).reports).flatMap((report) =>
      report.warnings.filter(({ code }) => code === 'self_recorded').map(({ text }) => text),
    )
  expect(await warnings()).toEqual([
    expect.stringMatching(
      /^(\d+) of \1 replayed cells? (?:has a recording|have recordings) that changed since [0-9a-f]{7}, where this branch left main/,
    ),
  ])
  git('switch', '-q', 'main')
  git('merge', '-q', '--ff-only', 'change')
  git('commit', '-q', '--allow-empty', '-m', 'later')
  await runVitest(root, NAMED, { ...provider.env, CI: '1' })
  expect(await warnings()).toEqual([])
})
