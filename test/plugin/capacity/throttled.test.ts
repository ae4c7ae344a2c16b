import { expect, test } from 'vitest'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, runVitest } from '../../harness/run-vitest.ts'
import { startProvider } from '../modes/provider.ts'
import { type Enforced, INPUT_TOKENS, OUTPUT_TOKENS, throttling } from './throttling.ts'

const HOSTS = {
  openai: 'api.openai.com',
  anthropic: 'api.anthropic.com',
  groq: 'api.groq.com',
  google: 'generativelanguage.googleapis.com',
} as const
type Name = keyof typeof HOSTS

async function run(limits: Partial<Record<Name, Enforced>>, cells: number, options: object) {
  const names = Object.keys(limits) as Name[]
  const enforced = throttling(Object.fromEntries(names.map((name) => [HOSTS[name], limits[name] as Enforced])))
  const provider = await startProvider(enforced.answer)
  const root = await project('capacity')
  const result = await runVitest(root, ['--project', 'evals'], {
    ...provider.env,
    ...{ FILES: 'throttled.eval.ts', CELLS: String(cells), PROVIDERS: names.join() },
    OPTIONS: JSON.stringify(options),
  })
  const counted = (name: Name) => {
    const own = enforced.counted.get(HOSTS[name])
    if (own === undefined) throw new Error(`${name} is not asked`)
    return own
  }
  return { result, provider, names, counted, inspected: await inspectRun(root) }
}

test('where the limits of the provider are declared, no request over them is ever sent', async () => {
  /*
   * A minute is 60 s and stays so: 600 requests a minute are 10 a second, and a bucket of 8 s holds 80 of them. Of the
   * 90 cells 60 may leave at once (a quarter of the bucket is left alone: a busy machine is late with some), the others
   * need (90 − 60) / 10 = 3 s. 60,000 tokens a minute are 1,000 a second, in a bucket of 8,000: what 90 calls of 90
   * tokens have above 6,000 needs 2.1 s.
   */
  const cells = 90
  const limits = {
    openai: { concurrency: 16, requestsPerMinute: 600, burstSeconds: 8, ms: 20 },
    anthropic: { concurrency: 16, tokensPerMinute: 60_000, burstSeconds: 8, ms: 20 },
    groq: { concurrency: 2, burstSeconds: 8, ms: 20 },
  }
  const lanes = Object.entries(limits).map(([name, { ms: _, ...limit }]) => ({ match: `${name}/*`, ...limit }))
  const { result, provider, names, counted, inspected } = await run(limits, cells, {
    capacity: { cells: 3 * cells, lanes },
  })
  expect(result.code, result.output).toBe(0)
  for (const name of names) {
    const own = counted(name)
    expect({ name, over: own.over }).toEqual({ name, over: { concurrency: 0, requests: 0, tokens: 0 } })
    expect(own.answered).toBe(cells)
    expect(own.fullest).toBeLessThanOrEqual(1)
  }
  expect(counted('groq').peak).toBe(2)
  expect(provider.calls).toHaveLength(names.length * cells)
  for (const record of inspected.records) {
    expect(record).toMatchObject({ status: 'scored', calls: { subject: 1, retried: 0 } })
    expect(record.tokens).toMatchObject({ input: INPUT_TOKENS, output: OUTPUT_TOKENS })
  }
})

test('where nothing is declared, the headers of each provider are kept to, nothing is lost, and the money adds up', async () => {
  const cells = 14
  const limits = { concurrency: 3, burstSeconds: 1, ms: 20, untilRefused: true } as const
  const { result, provider, names, counted, inspected } = await run(
    {
      openai: { ...limits, requestsPerMinute: 480 },
      anthropic: { ...limits, tokensPerMinute: 48_000 },
      groq: { ...limits, tokensPerMinute: 48_000 },
      google: { ...limits, requestsPerMinute: 480 },
    },
    cells,
    { budget: { usd: 5 }, capacity: { cells: 56, lanes: [{ match: '*', price: { input: 1, output: 2 } }] } },
  )
  expect(result.code, result.output).toBe(0)
  expectCleanOutput(result.output)
  const { records, entries } = inspected
  expect(records).toHaveLength(names.length * cells)
  let refused = 0
  for (const name of names) {
    const own = counted(name)
    expect(own.refused, `${name} refused some`).toBeGreaterThan(0)
    expect(own.early, `${name} was asked again before the time it told`).toBe(0)
    expect(own.answered).toBe(cells)
    const retried = records.filter(({ variantId }) => variantId === name).map(({ calls }) => calls.retried)
    expect(retried.reduce((sum, one) => sum + one, 0)).toBe(own.refused)
    refused += own.refused
  }
  expect(provider.calls).toHaveLength(records.length + refused)
  const microUsd = INPUT_TOKENS + 2 * OUTPUT_TOKENS
  for (const record of records) {
    expect(record).toMatchObject({ status: 'scored', calls: { subject: 1 }, cost: { usd: microUsd / 1_000_000 } })
    expect(record.tokens).toMatchObject({ input: INPUT_TOKENS, output: OUTPUT_TOKENS })
  }
  const [budget] = entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))
  expect(budget).toMatchObject({
    chargedMicroUsd: records.length * microUsd,
    ...{ heldMicroUsd: 0, unknownMicroUsd: 0, unknownCalls: 0, overshootMicroUsd: 0 },
  })
})
