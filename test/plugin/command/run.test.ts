import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'

test('a command scores a live cell and a replayed one, where subjects may start nothing', async () => {
  const provider = await startProvider()
  const root = await project('modes')
  const env = { ...provider.env, FILES: 'command.eval.ts' }
  for (const mode of [env, { ...env, CI: '1' }]) {
    provider.fresh()
    const { output } = await runVitest(root, ['--project', 'evals'], mode)
    const run = await inspectRun(root)
    expect(run.cell('built', 'short'), output).toMatchObject({
      status: 'scored',
      scores: { checked: { value: 1, pass: true, role: 'command' } },
      integrity: { ok: true },
    })
    expect(run.cell('built', 'none').scores.checked).toMatchObject({
      pass: false,
      rationale: expect.stringMatching(/^exit code 1:\n\d+ of 0$/),
    })
    expect(provider.fresh()).toHaveLength(mode === env ? 2 : 0)
  }
})
