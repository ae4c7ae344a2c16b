import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'

test('a loop that blocks the thread past a deadline has missed it', async () => {
  const root = await project('errors')
  await runVitest(root, ['blocks'])
  const run = await inspectRun(root)
  for (const scenario of ['returns', 'throws']) {
    expect(run.cell('blocks', scenario), scenario).toMatchObject({
      status: 'task_fail',
      failure: { class: 'timeout', mode: 'deadline' },
    })
  }
  for (const [campaign, bound] of [
    ['scorer blocks', "the cell's deadline"],
    ['scorer hangs', "the cell's deadline"],
    ['scorer outstays', 'its timeout of 0.1 s'],
  ] as const) {
    const record = run.cell(campaign, 's')
    expect(record).toMatchObject({ status: 'judge_error', score: null })
    expect(record.scores.ok?.error).toBe(`scorer "ok" did not settle within ${bound}`)
  }
})
