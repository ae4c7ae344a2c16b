import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bodyShare } from '../../src/core/traffic/shared.ts'
import { project, runVitest } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

const cell = 'evals/__recordings__/tape/a/s/0.jsonl'

/** A project whose campaign `tape` has the variants a and b, with recordings of a, and of a variant c that is gone. */
async function recorded(): Promise<string> {
  const root = await project('recordings')
  const exchange = (body: object) =>
    JSON.stringify({
      ...{ role: 'subject', key: '0'.repeat(32), ordinal: 0 },
      request: { method: 'POST', url: 'https://api.example/v1', headers: [], body: { json: { a: 1 } } },
      outcome: {
        ...{ kind: 'response', status: 200, statusText: 'OK', headers: [], body, cuts: [], end: { kind: 'complete' } },
      },
      ...{ source: 'live', startedAt: '2026-01-02T03:04:05.000Z', ttfbMs: 1, totalMs: 2, redactions: [], retried: 0 },
    })
  const header = (variantId: string) =>
    JSON.stringify({
      ...{ schema: 'vitest-campaign/recording@1', campaignId: 'tape', variantId, scenarioId: 's', seed: 0 },
      recordedAt: '2026-01-02T03:04:05.000Z',
    })
  const share = bodyShare()
  const shared = share.keep({ text: 'long '.repeat(20_000) }) ?? ''
  const bodies = join(root, 'evals/__recordings__/_bodies')
  await mkdir(bodies, { recursive: true })
  for (const [name, bytes] of share.files) await writeFile(join(bodies, name), bytes)
  for (const [variant, body] of [
    ['a', { text: 'short' }],
    ['c', { shared }],
  ] as const) {
    const folder = join(root, `evals/__recordings__/tape/${variant}/s`)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, '0.jsonl'), `${header(variant)}\n${exchange(body)}\n`)
  }
  return root
}

test('recordings are listed, checked against the eval files and pruned', async () => {
  const root = await recorded()
  const listed = await runHere(root, ['recordings'])
  expect(listed.stdout.split('\n')).toEqual([
    expect.stringMatching(/^evals\/__recordings__\/tape\/a\/s\/0\.jsonl {2}1 call {2}2026-01-02 {2}\d+ B$/),
    expect.stringMatching(/^evals\/__recordings__\/tape\/c\/s\/0\.jsonl {2}1 call/),
    '',
  ])

  const checked = await runHere(root, ['recordings', 'check'], process.env as Record<string, string>)
  expect([checked.code, checked.stderr]).toEqual([0, ''])
  expect(checked.stdout).toContain('stale  evals/__recordings__/tape/c/s/0.jsonl: no eval file beside it has this cell')
  expect(checked.stdout).toMatch(/large {2}97\.7 KiB {2}evals\/\S+c\/s\/0\.jsonl: answer to POST/)
  expect(checked.stdout).toMatch(/2 recordings, 0 bad, 1 stale\n$/)

  const dry = await runHere(root, ['recordings', 'prune', '--dry-run'], process.env as Record<string, string>)
  expect(dry.stdout).toMatch(
    /would remove evals\S+c\/s\/0\.jsonl: .*\nwould remove evals\S+_bodies\/\S+\.txt: .*\n2 files to/,
  )
  expect(existsSync(join(root, 'evals/__recordings__/tape/c'))).toBe(true)
  const pruned = await runHere(root, ['recordings', 'prune'], process.env as Record<string, string>)
  expect(pruned.stdout).toMatch(/2 files removed\n$/)
  expect([existsSync(join(root, 'evals/__recordings__/tape/c')), existsSync(join(root, cell))]).toEqual([false, true])
})

test('what the newest run was recorded and did not ask for is listed', async () => {
  const root = await recorded()
  const run = await runVitest(root, ['--project', 'evals'], { CI: '1' })
  expect(run.output).toContain('replay_unused')
  const { code, stdout } = await runHere(root, ['recordings', 'check', '--no-collect'])
  expect(code).toBe(0)
  expect(stdout.split('\n').filter((line) => line.startsWith('unused'))).toEqual([
    expect.stringMatching(
      /^unused tape > a > s > seed 0: 1 recorded request was not made again \(POST https:\/\/api\.example\/v1\)/,
    ),
  ])
})

test('what is damaged, in the wrong place, or holds a secret is named, and the exit code says so', async () => {
  const root = await recorded()
  const path = join(root, cell)
  const good = await readFile(path, 'utf8')
  await writeFile(path, good.replace('short', `sk-proj-${'a1B2'.repeat(10)}`))
  await mkdir(join(root, 'evals/__recordings__/tape/b/s'), { recursive: true })
  await writeFile(join(root, 'evals/__recordings__/tape/b/s/0.jsonl'), good)
  await writeFile(join(root, 'evals/__recordings__/tape/b/s/1.jsonl'), good.slice(0, -20))
  await writeFile(join(root, 'evals/__recordings__/tape/b/s/notes.txt'), '')
  await symlink(path, join(root, 'evals/__recordings__/tape/b/s/2.jsonl'))
  const { code, stdout } = await runHere(root, ['recordings', 'check', '--no-collect'])
  expect(code).toBe(1)
  const bad = stdout.split('\n').filter((line) => line.startsWith('bad'))
  expect(bad).toEqual([
    expect.stringMatching(/tape\/a\/s\/0\.jsonl: a secret is left, found by openai-key/),
    expect.stringMatching(
      /tape\/b\/s\/0\.jsonl: its first line says that it belongs at __recordings__\/tape\/a\/s\/0\.jsonl/,
    ),
    expect.stringMatching(/tape\/b\/s\/1\.jsonl: 1\.jsonl:2: the last line is torn/),
    expect.stringMatching(/tape\/b\/s\/1\.jsonl: its first line says/),
    expect.stringMatching(/2\.jsonl is a symbolic link/),
    expect.stringMatching(/notes\.txt is no recording/),
  ])
  expect(stdout).not.toContain('a1B2')
})

test('nothing is pruned where the eval files do not load', async () => {
  const root = await recorded()
  await writeFile(join(root, 'evals/tape.eval.ts'), 'throw new Error("broken")')
  const { code, stderr } = await runHere(root, ['recordings', 'prune'], process.env as Record<string, string>)
  expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was removed')])
  await rename(join(root, 'evals/tape.eval.ts'), join(root, 'evals/tape.txt'))
  const none = await runHere(root, ['recordings', 'prune'], process.env as Record<string, string>)
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('nothing was removed')])
  await rm(join(root, 'evals/__recordings__'), { recursive: true })
  expect((await runHere(root, ['recordings', 'check'])).stderr).toMatch(/^note: no __recordings__ folder below \./)
  expect((await runHere(root, ['recordings', 'remove'])).stderr).toContain('is no action')
})
