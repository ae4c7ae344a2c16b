import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULT_ATTEMPTS } from '../../../src/core/capacity/retry.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { completion, startProvider } from '../modes/provider.ts'

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
}, 60_000)
