import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULT_ATTEMPTS } from '../../../src/core/capacity/retry.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { printed, project, runKeptVitest as runVitest, startVitest, until } from '../../harness/run-vitest.ts'
import { type Answer, completion, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }

test('retry: { infra: 1 } runs a cell with an infrastructure error once more, last, and bills both attempts', async () => {
  const root = await project('modes')
  const order: string[] = []
  const provider = await startProvider(({ body }, response) => {
    const { content } = JSON.parse(body).messages[0] as { content: string }
    order.push(content)
    // Until the recorder gives up, and the cell with it.
    if (content.startsWith('broken') && order.filter((one) => one === content).length <= FAULT_ATTEMPTS) {
      response.writeHead(500, { ...json }).end('{"error":{"message":"broken"}}')
    } else {
      response.writeHead(200, json).end(completion('gpt-4o-mini', 'an answer', 1_000_000))
    }
    return true
  })
  const campaign = { variants: { a: { model: 'gpt-4o-mini' } }, scenarios: ['broken', 'fine'] }
  const result = await runVitest(root, ['--project', 'evals', '--reporter=verbose'], {
    ...provider.env,
    FILES: 'budget.eval.ts',
    BUDGET: JSON.stringify(campaign),
    OPTIONS: JSON.stringify({ mode: 'live', capacity: { cells: 1 }, retry: { infra: 1 } }),
  })
  const { dir, cell } = await inspectRun(root)
  expect(cell('budget', 'broken'), result.output).toMatchObject({
    status: 'scored',
    attempts: 2,
    cost: { usd: 0.150_002 },
  })
  expect(cell('budget', 'fine')).toMatchObject({ status: 'scored', attempts: 1 })
  const seen = order.filter((content, at) => content !== order[at - 1]).map((content) => content.split(' ')[0])
  expect(seen, 'again at the end of the seed block').toEqual(['broken', 'fine', 'broken'])
  const captures = (await readdir(join(dir, 'raw'))).filter((file) => file.startsWith(cell('budget', 'broken').cellId))
  expect(captures.length, 'the capture of both attempts').toBe(2)
})

const POLITE = '{"rationale":"Polite.","pass":true}'

/**
 * Answers subjects and judges. `broken` and `dead` fail as often as the recorder tries once, or for ever; the judge of
 * `judged` always does.
 */
function faulty(holdBack: (name: string, give: () => void) => void = (_, give) => give()) {
  const subjects: string[] = []
  const answer: Answer = ({ body }, response) => {
    const name = /subject (\w+ \w \d)\./.exec(body)?.[1]
    const judged = name === undefined && /of judged/.test(body)
    if (name !== undefined) subjects.push(name)
    const tries = subjects.filter((one) => one === name).length
    if (judged || name?.startsWith('dead') || (name?.startsWith('broken') && tries <= FAULT_ATTEMPTS)) {
      response.writeHead(500, { ...json, 'retry-after-ms': '1' }).end('{"error":{"message":"broken"}}')
    } else {
      const text = name === undefined ? POLITE : 'answer'
      holdBack(name ?? '', () => response.writeHead(200, json).end(completion('gpt-5-mini', text, 9)))
    }
    return true
  }
  return { answer, subjects }
}

const rerun = (scenarios: readonly string[], env: NodeJS.ProcessEnv = {}) => ({
  ...{ FILES: 'rerun.eval.ts', SCENARIOS: JSON.stringify(scenarios) },
  OPTIONS: JSON.stringify({ capacity: { cells: 1 }, retry: { infra: 1 } }),
  ...env,
})

test('cells of all variants run again alike, at the end of their seed block, and none whose subject gave an output', async () => {
  const { answer, subjects } = faulty()
  const provider = await startProvider(answer)
  const root = await project('capacity')
  const scenarios = ['broken', 'dead', 'fine', 'judged']
  const { output } = await runVitest(root, ['--project', 'evals'], {
    ...provider.env,
    ...rerun(scenarios, { SEEDS: '2' }),
  })
  const again = ['broken', 'dead']
  const block = (seed: number) =>
    [...scenarios, ...again].flatMap((id) => ['a', 'b', 'c'].map((variant) => `${id} ${variant} ${seed}`))
  expect(
    subjects.filter((name, at) => name !== subjects[at - 1]),
    output,
  ).toEqual([...block(0), ...block(1)])
  const { records } = await inspectRun(root)
  const ends = {
    broken: { status: 'scored', attempts: 2 },
    dead: { status: 'infra_error', reason: 'provider-fault', attempts: 2 },
    fine: { status: 'scored', attempts: 1 },
    judged: { status: 'judge_error', attempts: 1 },
  }
  expect(records).toHaveLength(4 * 3 * 2)
  for (const record of records) {
    expect(record).toMatchObject(ends[record.scenarioId as keyof typeof ends])
    const name = `${record.scenarioId} ${record.variantId} ${record.seed}`
    const sent = subjects.filter((one) => one === name).length
    expect(sent).toBe({ broken: FAULT_ATTEMPTS + 1, dead: 2 * FAULT_ATTEMPTS, fine: 1, judged: 1 }[record.scenarioId])
  }
})

test.each(['SIGINT', 'bail'] as const)(
  '%s while cells wait to run again: what their first attempt found stands, with its bill',
  async (how) => {
    let release = (): void => {}
    const { answer, subjects } = faulty((name, give) => {
      if (name === 'fine a 0' && how === 'SIGINT') release = give
      else give()
    })
    const provider = await startProvider(answer)
    const root = await project('capacity')
    const env = rerun(['broken', 'fine'], how === 'bail' ? { BUG: 'fine a 0' } : {})
    const run = startVitest(root, ['--project', 'evals', ...(how === 'bail' ? ['--bail=1'] : [])], {
      ...provider.env,
      ...env,
    })
    if (how === 'SIGINT') {
      await until(run, 'the last cell asked', () => subjects.includes('fine a 0'))
      run.child.kill('SIGINT')
      await printed(run, 'no new cells; 4 in flight')
      release()
    }
    const { output } = await run.done
    const { records } = await inspectRun(root)
    const broken = records.filter(({ scenarioId }) => scenarioId === 'broken')
    expect(broken).toHaveLength(3)
    for (const record of broken) {
      expect(record, output).toMatchObject({
        ...{ status: 'infra_error', reason: 'provider-fault', attempts: 1, cost: { usd: 0 } },
        calls: { subject: 1, retried: FAULT_ATTEMPTS - 1 },
      })
    }
    const reason = how === 'bail' ? 'bail' : 'interrupted'
    expect(records.filter(({ scenarioId }) => scenarioId === 'fine').map((one) => one.reason ?? one.status)).toEqual([
      how === 'bail' ? 'task_fail' : 'scored',
      reason,
      reason,
    ])
    expect(subjects.filter((name) => name.startsWith('broken'))).toHaveLength(3 * FAULT_ATTEMPTS)
  },
)

test('SIGINT while judges hang: every cell ends once, its output is safe, and no request leaves after its end', async () => {
  const provider = await startProvider(({ body }, response) => {
    // No judge is ever answered.
    if (/subject \w+ \w \d\./.test(body)) response.writeHead(200, json).end(completion('gpt-5-mini', 'answer', 9))
    return true
  })
  const judging = () => provider.calls.filter(({ body }) => body.includes('You are judging')).length
  const root = await project('capacity')
  const options = {
    shutdownTimeout: 300,
    budget: { usd: 5 },
    retry: { infra: 1 },
    capacity: { lanes: [{ match: '*', price: { input: 1, output: 2 }, usdPerCell: 0.1 }] },
  }
  const env = { ...rerun(['one', 'two']), OPTIONS: JSON.stringify(options) }
  const run = startVitest(root, ['--project', 'evals'], { ...provider.env, ...env })
  await until(run, 'all judges were asked', () => judging() >= 6)
  run.child.kill('SIGINT')
  const { output, code } = await run.done
  expect(code, output).toBe(130)
  expect(provider.calls).toHaveLength(12)
  const { records, entries } = await inspectRun(root)
  expect(records).toHaveLength(6)
  // A completion of the test answers 3 tokens.
  const subjectUsd = (9 + 2 * 3) / 1_000_000
  for (const { cellId, ...record } of records) {
    expect(record, output).toMatchObject({
      ...{ status: 'judge_error', reason: 'interrupted', attempts: 1, calls: { subject: 1, judge: 1, retried: 0 } },
      output: { preview: expect.stringMatching(/^answer of (one|two) [abc] 0$/) },
      cost: { usd: null, subjectUsd, judgeUsd: null },
    })
    const kinds = entries.filter((entry) => 'cellId' in entry && entry.cellId === cellId).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'admitted' || kind === 'subject-settled')).toEqual([
      'admitted',
      'subject-settled',
    ])
  }
  const [budget] = entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))
  expect(budget).toMatchObject({ chargedMicroUsd: 6 * 15, heldMicroUsd: 0, unknownCalls: 6 })
  expect(budget?.unknownMicroUsd).toBeGreaterThan(0)
})
