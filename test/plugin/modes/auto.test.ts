import { describe, expect, test } from 'vitest'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, REPOSITORY, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { commandFor, recordings, shell, statuses, timeless } from './project.ts'
import { startProvider } from './provider.ts'

const NAMED = ['--project', 'evals']
const ALL = {
  'openai refund': 'scored',
  'openai login': 'scored',
  'anthropic refund': 'scored',
  'anthropic login': 'scored',
}

describe('mode auto', () => {
  test('a bare command buys nothing and says why; a named one records what is new and replays it ever after', async () => {
    const provider = await startProvider()
    const { env } = provider
    const root = await project('modes')

    const bare = await runVitest(root, [], env)
    expect(provider.fresh(), 'a bare `vitest run` must not buy').toEqual([])
    expect(bare.code).toBe(1)
    expect(bare.output).toContain('the command names neither the project nor an eval file')
    expect(await recordings(root)).toEqual({})
    const said = bare.output.match(/^ +npx vitest run .*chat\.eval\.ts$/gm)
    expect(said, 'one command for the whole campaign').toHaveLength(1)
    expect(bare.output).toMatch(/campaign chat: 4 of 4 cells have no recording, and this run replays/)
    expect(bare.output.split('has no recording of this cell').length - 1, 'one error for all cells').toBeLessThan(8)
    const none = await runVitest(root, NAMED, { ...env, CI: '1' })
    expect(provider.fresh(), 'CI must not buy').toEqual([])
    expect(none.output).toContain('CI: recordings only')

    expect(none.output).toContain('To record them on your machine:')
    const first = await shell(said?.[0] ?? '', REPOSITORY, env)
    expect(first.code, first.output).toBe(0)
    expectCleanOutput(first.output)
    expect(
      provider
        .fresh()
        .map(({ host, path }) => `${host}${path}`)
        .toSorted(),
    ).toEqual([
      'api.anthropic.com/v1/messages',
      'api.anthropic.com/v1/messages',
      'api.openai.com/v1/chat/completions',
      'api.openai.com/v1/chat/completions',
    ])
    const recorded = await recordings(root)
    expect(Object.keys(recorded)).toHaveLength(4)
    const live = await inspectRun(root)
    expect(live.records.map(({ provenance }) => provenance)).toEqual(['live', 'live', 'live', 'live'])

    for (const [what, args, more] of [
      ['locally', NAMED, {}],
      ['by file', ['chat'], {}],
      ['bare', [], {}],
      ['in CI', NAMED, { CI: '1' }],
      ['without keys', NAMED, { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' }],
    ] as const) {
      const again = await runVitest(root, args, { ...env, ...more })
      expect(again.code, `${what}: ${again.output}`).toBe(0)
      expect(provider.fresh(), what).toEqual([])
      const { records } = await inspectRun(root)
      expect(records.map(({ provenance, wallMs }) => ({ provenance, wallMs }))).toEqual(
        Array(4).fill({ provenance: 'replayed', wallMs: null }),
      )
      expect(records.map(timeless)).toEqual(live.records.map(timeless))
      for (const { tokens, cost } of records) {
        expect(tokens).toMatchObject({ known: true, input: expect.any(Number) })
        expect(cost.usd).toBeGreaterThan(0)
      }
    }
    expect(await recordings(root)).toEqual(recorded)
  })

  test('a changed prompt fails with what changed and the command that records the cell again', async () => {
    const provider = await startProvider()
    const { env } = provider
    const root = await project('modes')
    await runVitest(root, NAMED, env)
    const before = await recordings(root)
    provider.fresh()

    const changed = { ...env, PROMPT: 'Answer in two words.' }
    for (const more of [{}, { CI: '1' }, { SWALLOW: '1' }]) {
      const missed = await runVitest(root, NAMED, { ...changed, ...more })
      expect(missed.code, 'a subject that swallows the miss fails as well').toBe(1)
      expect(provider.fresh()).toEqual([])
      expect(await recordings(root)).toEqual(before)
      const { records } = await inspectRun(root)
      expect(new Set(records.map(({ status }) => status))).toEqual(new Set(['capture_error']))
      expect(missed.output).toContain('/messages/0/content: "Answer in one word." → "Answer in two words."')
      expect(missed.output).toContain('/system: "Answer in one word." → "Answer in two words."')
      const [issue] = records[0]?.integrity.issues ?? []
      expect(issue?.code).toBe('replay_miss')
      expect(issue?.message.split('\n').length).toBeLessThanOrEqual(12)
    }

    // From the folder the run was started in, with its --root.
    const { output } = await runVitest(root, NAMED, changed)
    const command = commandFor(output, 'chat openai > login > seed 0')
    expect(command).toContain(' --root test/.scratch/modes-')
    const pasted = await shell(command, REPOSITORY, changed)
    expect(pasted.code, `${command}\n${pasted.output}`).toBe(0)
    expect(provider.fresh()).toHaveLength(1)
    const after = await recordings(root)
    const differ = Object.keys(after).filter((path) => after[path] !== before[path])
    expect(differ).toEqual(['__recordings__/chat/openai/login/0.jsonl'])

    // And from the project's own folder.
    const inside = await shell('npx vitest run --project evals', root, changed)
    const short = commandFor(inside.output, 'chat anthropic > login > seed 0')
    expect(short).toBe("npx vitest run --project evals chat.eval.ts -t 'chat anthropic > login > seed 0$' -u")
    expect((await shell(short, root, changed)).code).toBe(0)
    expect(provider.fresh()).toHaveLength(1)
    await shell('npx vitest run --project evals', root, changed)
    expect(provider.fresh()).toEqual([])
    expect(statuses((await inspectRun(root)).records)).toEqual({
      ...ALL,
      'openai refund': 'capture_error',
      'anthropic refund': 'capture_error',
    })
  })
})
