import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest, startVitest } from '../../harness/run-vitest.ts'
import { expectAccounted, journalOf, newestDir, settledIn, spendsIn } from './accounting.ts'
import { countingProvider, microUsd } from './provider.ts'

test('killed while a call of its second attempt is made again, a cell has the bills of all attempts', async () => {
  let killing = true
  let first = 0
  let last = 0
  const provider = await countingProvider(({ content }) => {
    if (content === 'think s0') first++
    if (content !== 'answer s0' || !killing) return 'answer'
    // Of the first attempt until it is given up; of the second once, and then no answer comes.
    if (first === 1) return 'down'
    return ++last === 1 ? 'down' : 'hold'
  })
  const root = await project('durable')
  const env = {
    ...provider.env,
    FILES: 'steps.eval.ts',
    OPTIONS: JSON.stringify({ retry: { infra: 1 }, budget: { usd: 1 } }),
  }
  const run = startVitest(root, [], env)
  await Promise.race([
    (async () => {
      for (;;) {
        await provider.reached(provider.asked.length + 1)
        if (last === 2) return
      }
    })(),
    run.done.then(({ output }) => {
      throw new Error(`the run ended before it was killed:\n${output}`)
    }),
  ])
  run.child.kill('SIGKILL')
  expect((await run.done).signal).toBe('SIGKILL')
  const cut = await journalOf(await newestDir(root))
  expect(settledIn(cut)).toEqual([])
  const holds = cut.flatMap((entry) => (entry.kind === 'admitted' ? [[entry.attempt, entry.heldMicroUsd ?? 0]] : []))
  expect(holds.map(([attempt]) => attempt)).toEqual([1, 2])
  killing = false
  const { code, output } = await runVitest(root, [], env)
  expect(code, output).toBe(0)
  const { dir, cell } = await inspectRun(root)
  expect(cell('steps', 's0')).toMatchObject({ status: 'scored', attempts: 3, calls: { subject: 2 } })
  const entries = await journalOf(dir)
  const price = microUsd(cell('steps', 's0').cost.usd) / 2
  // Refused calls cost nothing and are known to; the one without an answer may have cost what it asked for.
  expect(spendsIn(entries)).toMatchObject([
    { attempt: 1, part: 'all', microUsd: price, unknownCalls: 0 },
    { attempt: 2, part: 'all', microUsd: price, unknownCalls: 1, boundMicroUsd: expect.any(Number) },
  ])
  expectAccounted(entries, provider)
  // The budget has all of it less.
  const budget = entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))[0]
  const known = settledIn(entries).reduce((sum, { cost }) => sum + microUsd(cost.usd), 0)
  expect(budget).toMatchObject({
    chargedMicroUsd: known + 2 * price,
    unknownMicroUsd: spendsIn(entries)[1]?.boundMicroUsd,
    heldMicroUsd: 0,
  })
})
