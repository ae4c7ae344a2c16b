import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, REPOSITORY, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { commandFor, recordings, shell, statuses } from './project.ts'
import { startProvider } from './provider.ts'

const NAMED = ['--project', 'evals']
const LOGIN = 'chat openai > login > seed 0'
const LOGIN_FILE = '__recordings__/chat/openai/login/0.jsonl'

describe('the mode', () => {
  test('-u records the selected cells again and no other; EVALS_MODE=record does without naming anything', async () => {
    const provider = await startProvider()
    const root = await project('modes')
    await runVitest(root, NAMED, provider.env)
    const before = await recordings(root)
    provider.fresh()

    const one = await runVitest(root, [...NAMED, '-u', '-t', LOGIN], { ...provider.env, PROMPT: 'Be brief.' })
    expect(one.code, one.output).toBe(0)
    expect(provider.fresh()).toHaveLength(1)
    const after = await recordings(root)
    expect(Object.keys(after).filter((path) => after[path] !== before[path])).toEqual([LOGIN_FILE])

    const bare = await runVitest(root, ['-u'], provider.env)
    expect(provider.fresh(), 'a -u meant for snapshots').toEqual([])
    expect(bare.output).toContain('the command names neither the project nor an eval file')

    const all = await runVitest(root, [], { ...provider.env, EVALS_MODE: 'record', CI: '1', PROMPT: 'Be brief.' })
    expect(all.code, all.output).toBe(0)
    expect(provider.fresh()).toHaveLength(4)
    const again = await recordings(root)
    expect(Object.values(again).every((text) => text.includes('Be brief.'))).toBe(true)
  })

  test('live reads and writes no recording; replay goes nowhere; an unknown value is refused', async () => {
    const provider = await startProvider()
    const root = await project('modes')
    const live = await runVitest(root, [], { ...provider.env, EVALS_MODE: 'live' })
    expect(live.code, live.output).toBe(0)
    expect(provider.fresh()).toHaveLength(4)
    expect(await recordings(root)).toEqual({})

    await runVitest(root, NAMED, provider.env)
    provider.fresh()
    const recorded = await recordings(root)
    // A recording that nobody can read, which `live` must not notice.
    await writeFile(join(root, LOGIN_FILE), 'torn')
    const again = await runVitest(root, NAMED, { ...provider.env, OPTIONS: '{"mode":"live"}' })
    expect(again.code, again.output).toBe(0)
    expect(provider.fresh()).toHaveLength(4)
    expect(await readFile(join(root, LOGIN_FILE), 'utf8')).toBe('torn')
    await writeFile(join(root, LOGIN_FILE), recorded[LOGIN_FILE] ?? '')

    const replay = await runVitest(root, NAMED, { ...provider.env, EVALS_MODE: 'replay', OPTIONS: '{"mode":"live"}' })
    expect(replay.code, replay.output).toBe(0)
    const unknown = await runVitest(root, NAMED, { ...provider.env, EVALS_MODE: 'offline' })
    expect(unknown.code).not.toBe(0)
    expect(unknown.output).toContain('EVALS_MODE="offline" is no mode; use one of auto, live, record, replay')
    expect(provider.fresh()).toEqual([])
    expect(await recordings(root)).toEqual(recorded)
  })

  test.each([
    ["mode: 'replay'", { OPTIONS: '{"mode":"replay"}' }],
    ['EVALS_MODE=replay', { EVALS_MODE: 'replay' }],
  ])('under %s, where -u does nothing, the command of a miss overrides it', async (reason, more) => {
    const provider = await startProvider()
    const env = { ...provider.env, ...more }
    const root = await project('modes')
    const missed = await runVitest(root, [...NAMED, '-u'], env)
    expect(provider.fresh()).toEqual([])
    expect(missed.output).toContain(reason)
    const [command = ''] = missed.output.match(/EVALS_MODE=record npx vitest run .*chat\.eval\.ts$/m) ?? []
    const pasted = await shell(command, REPOSITORY, env)
    expect(pasted.code, pasted.output).toBe(0)
    expect(provider.fresh()).toHaveLength(4)
    const changed = await runVitest(root, NAMED, { ...env, PROMPT: 'Be brief.' })
    const again = commandFor(changed.output, LOGIN)
    expect(again).toMatch(/^EVALS_MODE=record npx vitest run /)
    expect((await shell(again, REPOSITORY, { ...env, PROMPT: 'Be brief.' })).code).toBe(0)
    expect(provider.fresh()).toHaveLength(1)
    expect((await recordings(root))[LOGIN_FILE]).toContain('Be brief.')
  })

  test('only a cell that settled cleanly changes its recording', async () => {
    const provider = await startProvider()
    const root = await project('modes')
    await runVitest(root, NAMED, provider.env)
    const before = await recordings(root)
    provider.fresh()
    const failing = await runVitest(root, [...NAMED, '-u'], { ...provider.env, PROMPT: 'Be brief.', FAILS: 'login' })
    expect(failing.code).toBe(1)
    expect(provider.fresh()).toHaveLength(4)
    const after = await recordings(root)
    expect(
      Object.keys(before)
        .filter((path) => before[path] === after[path])
        .toSorted(),
    ).toEqual(['__recordings__/chat/anthropic/login/0.jsonl', LOGIN_FILE])
    expect(statuses((await inspectRun(root)).records)).toMatchObject({ 'openai login': 'task_fail' })
  })

  test('without a key a live cell is refused naming the variable, and the others replay', async () => {
    const provider = await startProvider()
    const root = await project('modes')
    const keyless = { ...provider.env, OPENAI_API_KEY: '' }
    const run = await runVitest(root, NAMED, keyless)
    expect(run.code).toBe(1)
    expect(provider.fresh().map(({ host }) => host)).toEqual(['api.anthropic.com', 'api.anthropic.com'])
    expect(run.output).toMatch(/OPENAI_API_KEY is not set/)
    expect(run.output).not.toContain('ANTHROPIC_API_KEY is not set')
    expect(Object.keys(await recordings(root))).toEqual([
      '__recordings__/chat/anthropic/login/0.jsonl',
      '__recordings__/chat/anthropic/refund/0.jsonl',
    ])
  })
})
