import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJournal } from '../../../src/core/journal/read.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { completion, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }

test('caps of one, the judge in the lane of the subject, ten calls at once and a re-ask: nobody waits for ever', async () => {
  let inFlight = 0
  let most = 0
  const provider = await startProvider(({ body }, response) => {
    const judging = body.includes('You are judging')
    most = Math.max(most, ++inFlight)
    response.once('close', () => inFlight--)
    if (body.includes('gpt-5-dead')) {
      response.writeHead(401, json).end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')
      return true
    }
    const again = body.includes('Your previous answer could not be used')
    const text = !judging ? 'answer' : again ? '{"rationale":"Polite.","pass":true}' : 'It is quite nice.'
    setTimeout(() => response.writeHead(200, json).end(completion('gpt-5-mini', text, 9)), 5)
    return true
  })
  const root = await project('capacity')
  const capacity = { cells: 1, lanes: [{ match: '*', concurrency: 1, account: 'one' }] }
  const env = { ...provider.env, FILES: 'judges.eval.ts', OPTIONS: JSON.stringify({ capacity }) }
  const { output } = await runVitest(root, ['--project', 'evals'], env)
  const run = await inspectRun(root)

  expect(most).toBe(1)
  for (const record of run.of('same lane')) {
    expect(record, output).toMatchObject({ status: 'scored', score: 1, calls: { subject: 10, judge: 4, retried: 0 } })
    expect(record.scores.style).toMatchObject({ value: 1 })
  }

  // The provider refuses the first, and its lane closes: the second gets no lease. Neither runs its subject again, and another judge of the
  // same cell keeps its score.
  for (const id of ['one', 'two']) {
    const record = run.cell('refused', id)
    expect(record).toMatchObject({ status: 'judge_error', attempts: 1, calls: { subject: 1 } })
    expect(record.scores.tone).toMatchObject({ value: 1, pass: true })
    expect(record.output?.preview).toBe('answer')
    expect(provider.calls.filter(({ body }) => body.includes(`refused ${id}`))).toHaveLength(1)
  }
  const second = run.cell('refused', 'two')
  expect(second.reason).toBe('lane-failed')
  expect(second.scores.strict?.error).toMatch(/^not judged: lane-failed: .*Incorrect API key/)
  expect(provider.calls.filter(({ body }) => body.includes('gpt-5-dead'))).toHaveLength(1)

  const { scores, status } = run.cell('hangs', 'one')
  expect(scores.stuck?.error).toContain('scorer "stuck" did not settle within its timeout of 1.5 s')
  expect({ status, tone: scores.tone?.value }).toEqual({ status: 'scored', tone: 1 })

  // What is paid for is safe before anybody judges it.
  const path = join(run.dir, 'journal.jsonl')
  const { entries } = readJournal(await readFile(path), path)
  for (const { cellId } of run.records) {
    const kinds = entries.filter((entry) => 'cellId' in entry && entry.cellId === cellId).map(({ kind }) => kind)
    expect(kinds).toEqual(['admitted', 'subject-settled'])
  }
})
