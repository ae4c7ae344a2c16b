import { expect, test } from 'vitest'
import { newestRun, project, startVitest } from '../../harness/run-vitest.ts'
import { byCell } from './accounting.ts'
import { countingProvider } from './provider.ts'

/** Outputs that JSON says in part: canonical JSON takes them, and reading them back gives something else. */
const LOSSY = ['bare', 'below', 'match']
const WHOLE = ['huge', 'json', 'null', 'text']

test('of outputs that are no JSON or not quite, what is carried is what a scorer saw, and the others run again', async () => {
  let holds = false
  const provider = await countingProvider(({ content }) => (holds && content.startsWith('polite') ? 'hold' : 'answer'))
  const env = {
    ...provider.env,
    FILES: 'odd.eval.ts',
    CELLS: '32',
    OPTIONS: JSON.stringify({ capacity: { cells: 32 } }),
  }
  /** What each cell came to, and what its scorer saw. */
  const outcome = async (root: string) =>
    byCell((await newestRun(root)).records).map(({ scenarioId, status, scores, failure, output }) => ({
      ...{ scenarioId, status, failure, digest: output?.digest },
      seen: scores.seen?.rationale,
    }))

  const whole = await project('durable')
  await startVitest(whole, [], env).done
  const expected = await outcome(whole)
  const scored = expected.flatMap(({ scenarioId, status }) => (status === 'scored' ? [scenarioId] : []))
  expect(scored.toSorted()).toEqual([...LOSSY, ...WHOLE].toSorted())

  // Killed when every output is journalled and every judge was asked.
  holds = true
  const before = provider.asked.length
  const root = await project('durable')
  const run = startVitest(root, [], env)
  await provider.reached(before + expected.length + scored.length)
  run.child.kill('SIGKILL')
  await run.done
  holds = false
  provider.fresh()
  const { output } = await startVitest(root, [], env).done
  expect(await outcome(root)).toEqual(expected)
  const subjects = provider.fresh().flatMap(({ content }) => (content.startsWith('odd ') ? [content.slice(4)] : []))
  expect(subjects.toSorted()).toEqual(LOSSY)
  expect(output).toContain(
    '3 of 18 cells run again: they had an output and no score, and the journal does not have the output',
  )
  expect(output).toContain(`${WHOLE.length} of 18 cells are scored on the output`)
})
