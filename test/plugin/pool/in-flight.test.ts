import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EntryOf } from '../../../src/core/journal/entry.ts'
import { readJournal } from '../../../src/core/journal/read.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { hasTerminals, project, startInTerminal, startVitest, until } from '../../harness/run-vitest.ts'
import { type Answer, completion, type Provider, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }
const CELLS = 40
const TOKENS = 11

interface Case {
  readonly shutdownTimeout?: number
  readonly env?: NodeJS.ProcessEnv
  readonly answer: Answer
  /** Milliseconds. */
  readonly stallTimeout?: number
}

/** Forty cells, all of them asking at once. */
async function forty({ shutdownTimeout = 5_000, stallTimeout, env = {}, answer }: Case, start = startVitest) {
  const provider = await startProvider(answer)
  const root = await project('capacity')
  const capacity = { cells: CELLS, lanes: [{ match: '*', concurrency: CELLS }] }
  const options = { capacity, shutdownTimeout, ...(stallTimeout === undefined ? {} : { stallTimeout }) }
  const own = { FILES: 'asks.eval.ts', CELLS: String(CELLS), OPTIONS: JSON.stringify(options), ...env }
  const run = start(root, ['--project', 'evals'], { ...provider.env, ...own })
  return { provider, root, run }
}

/** The process that writes the run: Vitest itself, behind whatever started it. */
function ownerOf(root: string): number {
  const id = readFileSync(join(root, '.evals/latest'), 'utf8').trim()
  return (JSON.parse(readFileSync(join(root, '.evals', id, 'owner.1.json'), 'utf8')) as { pid: number }).pid
}

function settledLines(root: string): number {
  const id = readFileSync(join(root, '.evals/latest'), 'utf8').trim()
  return readFileSync(join(root, '.evals', id, 'journal.jsonl'), 'utf8').split('"kind":"settled"').length - 1
}

/** What holds however a run ended: one terminal line per admitted cell, and its calls and money are the provider's. */
async function expectWhole(root: string, provider: Provider, billed: number) {
  const run = await inspectRun(root)
  const path = join(run.dir, 'journal.jsonl')
  const { entries } = readJournal(await readFile(path), path)
  const admitted = entries.filter((entry): entry is EntryOf<'admitted'> => entry.kind === 'admitted')
  expect(new Set(admitted.map(({ cellId }) => cellId)).size).toBe(admitted.length)
  const lost = run.records.filter(({ reason }) => reason === 'worker-lost')
  const told = run.records.filter(({ reason }) => reason !== 'worker-lost')
  const calls = told.reduce((sum, record) => sum + record.calls.subject + record.calls.retried, 0)
  // Of a thread that is gone nobody has the calls: its cells' bills are unknown, never 0.
  // A request that its cell's deadline cut off as it left is counted, whether the provider has seen it or not.
  const cut = told.filter(({ failure }) => failure?.class === 'timeout').length
  if (lost.length > 0) expect(calls).toBeLessThanOrEqual(provider.calls.length + cut)
  else {
    expect(calls).toBeGreaterThanOrEqual(provider.calls.length)
    expect(calls).toBeLessThanOrEqual(provider.calls.length + cut)
  }
  for (const { attempts, cost } of lost) if (attempts > 0) expect(cost.usd).toBeNull()
  const input = told.reduce((sum, { tokens }) => sum + (tokens.input ?? 0), 0)
  if (lost.length === 0) expect(input).toBe(billed * TOKENS)
  else expect(input).toBeLessThanOrEqual(billed * TOKENS)
  return run
}

const ends = (records: readonly { readonly status: string; readonly reason?: string | undefined }[]) => {
  const count: Record<string, number> = {}
  for (const { status, reason } of records) {
    const end = reason === undefined ? status : `${status} ${reason}`
    count[end] = (count[end] ?? 0) + 1
  }
  return count
}

/** Answers every second question at once, and the others never. */
function halfAnswers() {
  let asked = 0
  let billed = 0
  const answer: Answer = (_, response) => {
    if (asked++ % 2 === 1) return true
    billed++
    response.writeHead(200, json).end(completion('gpt-5-mini', 'answer', TOKENS))
    return true
  }
  return { answer, billed: () => billed }
}

describe('forty cells in flight', () => {
  test.each([
    ['SIGINT', ['SIGINT'], 300],
    ['SIGTERM', ['SIGTERM'], 300],
    ['a second SIGINT', ['SIGINT', 'SIGINT'], 600_000],
  ] as const)('%s: each has one end, and its calls and tokens are those of the provider', async (_, signals, ms) => {
    const half = halfAnswers()
    const { provider, root, run } = await forty({ shutdownTimeout: ms, answer: half.answer })
    await until(run, 'all had asked', () => provider.calls.length === CELLS)
    // What the provider has answered is read, or nobody would know whether it was.
    await until(run, 'half of them were settled', () => settledLines(root) === CELLS / 2)
    for (const [i, signal] of signals.entries()) {
      if (i > 0) await until(run, 'it drained', () => run.printed().includes('in flight get'))
      run.child.kill(signal)
    }
    const { output, code } = await run.done
    expect(code, output).toBe(signals[0] === 'SIGINT' ? 130 : 143)
    const whole = await expectWhole(root, provider, half.billed())
    expect(ends(whole.records), output).toEqual({ scored: 20, 'infra_error interrupted': 20 })
    if (signals[0] === 'SIGINT') expect(output).toContain('a displaced handler ran')
  })

  test.skipIf(!hasTerminals).each(['Ctrl-C', 'SIGTERM'] as const)('%s at a terminal is the same', async (how) => {
    const half = halfAnswers()
    const { provider, root, run } = await forty({ shutdownTimeout: 300, answer: half.answer }, startInTerminal)
    await until(run, 'all had asked', () => provider.calls.length === CELLS)
    await until(run, 'half of them were settled', () => settledLines(root) === CELLS / 2)
    if (how === 'Ctrl-C') run.child.stdin?.write('\u0003')
    else process.kill(ownerOf(root), 'SIGTERM')
    const { output } = await run.done
    expect(output).toContain(`${how === 'Ctrl-C' ? 'SIGINT' : how}: no new cells`)
    const whole = await expectWhole(root, provider, half.billed())
    expect(ends(whole.records), output).toEqual({ scored: 20, 'infra_error interrupted': 20 })
    if (how === 'Ctrl-C') expect(output).toContain('a displaced handler ran')
  })

  test('a provider that says nothing for longer than stallTimeout is asked again, and its cells are scored', async () => {
    const asked = new Set<string>()
    const { provider, root, run } = await forty({
      stallTimeout: 3_000,
      env: { CELLS: '3' },
      answer: ({ body }, response) => {
        if (asked.has(body)) response.writeHead(200, json).end(completion('gpt-5-mini', 'answer', TOKENS))
        asked.add(body)
        return true
      },
    })
    const { code, output } = await run.done
    expect(code, output).toBe(0)
    expect(provider.calls).toHaveLength(6)
    const { records, dir } = await expectWhole(root, provider, 3)
    for (const { cellId, scenarioId, ...record } of records) {
      // Whether an answer that never came was billed nobody knows.
      expect(record).toMatchObject({ status: 'scored', calls: { subject: 1, retried: 1 }, cost: { usd: null } })
      const raw = readFileSync(join(dir, 'raw', `${cellId}.1.jsonl`), 'utf8')
      expect(raw).toContain(
        `no byte came for 3 s (stallTimeout): the request of cell gpt-5-mini > ${scenarioId} > seed 0 in lane openai/gpt-5-mini was ended`,
      )
    }
  })

  test('subjects that ignore their deadline and ask for ever buy nothing after it', async () => {
    let refused = 0
    const { provider, root, run } = await forty({
      env: { SUBJECT: 'ignores', TIMEOUT: '1500' },
      answer: (_, response) => {
        refused++
        response.writeHead(400, json).end('{"error":{"message":"no such luck","type":"invalid_request_error"}}')
        return true
      },
    })
    const { output } = await run.done
    const whole = await expectWhole(root, provider, 0)
    expect(refused).toBe(provider.calls.length)
    expect(whole.records, output).toHaveLength(CELLS)
    for (const { status, reason, failure } of whole.records) {
      // Five identical errors close the lane; who asks then is refused, and in the end out of time.
      expect([status, reason ?? failure?.class]).toEqual(['task_fail', 'timeout'])
    }
  })

  test('a thread that exits under them leaves no cell without an end and no bill at 0', async () => {
    let billed = 0
    const { provider, root, run } = await forty({
      env: { SUBJECT: 'exits' },
      answer: (_, response) => {
        billed++
        response.writeHead(200, json).end(completion('gpt-5-mini', 'answer', TOKENS))
        return true
      },
    })
    const { code, output } = await run.done
    expect(code, output).toBe(1)
    const whole = await expectWhole(root, provider, billed)
    expect(whole.records).toHaveLength(CELLS)
    expect(ends(whole.records)['infra_error worker-lost']).toBeGreaterThan(0)
  })
})

describe('permits that wait under a hold', () => {
  test.each([
    ['are refused when the grace is over', ['SIGINT'], 300],
    ['are refused at once by a second signal', ['SIGINT', 'SIGINT'], 600_000],
  ] as const)('%s', async (_, signals, ms) => {
    let told = 0
    const { provider, root, run } = await forty({
      shutdownTimeout: ms,
      env: { CELLS: '4', TIMEOUT: '900000' },
      answer: (_call, response) => {
        told++
        response.writeHead(429, { ...json, 'retry-after': '600' })
        response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
        return true
      },
    })
    await until(run, 'all were told to wait', () => told === 4)
    for (const [i, signal] of signals.entries()) {
      if (i > 0) await until(run, 'it drained', () => run.printed().includes('in flight get'))
      run.child.kill(signal)
    }
    const { output, code } = await run.done
    expect(code, output).toBe(130)
    const whole = await inspectRun(root)
    expect(ends(whole.records), output).toEqual({ 'infra_error interrupted': 4 })
    expect(provider.calls).toHaveLength(4)
  })
})
