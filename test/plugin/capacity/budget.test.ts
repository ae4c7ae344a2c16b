import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../../cli/run-here.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { newestRun, project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { type Answer, completion, type Provider, startProvider } from '../modes/provider.ts'

const json = { 'content-type': 'application/json' }
/** List prices of gpt-4o-mini: 0.15 USD per million tokens asked, 0.60 answered; a completion of the test answers 3. */
const CALL_MICRO_USD = 150_000 + 2

const MILLION: Answer = ({ body }, response) => {
  response.writeHead(200, json).end(completion(JSON.parse(body).model, 'an answer', 1_000_000))
  return true
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `case ${i}`)

async function run(root: string, provider: Provider, campaign: object, options: object, env: NodeJS.ProcessEnv = {}) {
  const result = await runVitest(root, ['--project', 'evals', '--reporter=verbose'], {
    ...provider.env,
    FILES: 'budget.eval.ts',
    BUDGET: JSON.stringify(campaign),
    OPTIONS: JSON.stringify(options),
    ...env,
  })
  return { result, provider, inspected: await inspectRun(root) }
}

test('a run stops before its budget is overspent, every variant measured alike, and says what it spent', async () => {
  const { result, provider, inspected } = await run(
    await project('modes'),
    await startProvider(MILLION),
    { variants: { a: { model: 'gpt-4o-mini' }, b: { model: 'gpt-4o-mini' } }, scenarios: names(6), seeds: 2 },
    { mode: 'live', budget: { usd: 40 } },
    { EVALS_BUDGET_USD: '1.60' },
  )
  // What the provider counted, and twice the dearest cell is held before each one: two calls short of the budget.
  const spent = provider.calls.length * CALL_MICRO_USD
  expect(spent).toBeLessThanOrEqual(1_600_000)
  expect(spent + 2 * CALL_MICRO_USD).toBeGreaterThan(1_600_000)
  const ran = inspected.records.filter(({ status }) => status === 'scored')
  expect(ran).toHaveLength(provider.calls.length)
  const of = (id: string) => ran.filter(({ variantId }) => variantId === id).length
  expect(Math.abs(of('a') - of('b'))).toBeLessThanOrEqual(1)
  expect(new Set(ran.map(({ seed }) => seed)), 'the first seed block').toEqual(new Set([0]))
  const left = inspected.records.filter(({ status }) => status !== 'scored')
  expect(new Set(left.map(({ status, reason }) => `${status} ${reason}`))).toEqual(new Set(['not_run budget']))
  expect(result.output).toMatch(
    /not run: budget: the budget of the run has not enough left for one more cell, which takes \$0\.30\d* for its subject \(openai\/gpt-4o-mini\): \$1\.\d\d/,
  )
})

test('a judge that the budget can never pay for is found with the first cell, and no output is bought for it after', async () => {
  const { result, provider, inspected } = await run(
    await project('modes'),
    await startProvider(),
    {},
    // 16,384 tokens of an answer that nothing bounds: $0.033 of gpt-5-mini, $0.164 of gpt-5.
    { mode: 'live', budget: { usd: 0.15 } },
    { FILES: 'unjudged.eval.ts' },
  )
  expect(provider.calls).toHaveLength(1)
  const [first, second] = ['first', 'second'].map((id) => inspected.cell('unjudged', id))
  expect(first).toMatchObject({ calls: { subject: 1, judge: 0 } })
  expect(second).toMatchObject({ status: 'not_run', reason: 'budget', calls: { subject: 0 } })
  expect(second?.failure?.message).toMatch(
    /has not enough left for one more cell, which takes .* and \$0\.16\d+ for its judge: /,
  )
  expect(result.output).toMatch(/second .*not run: budget/)
})

test('a judge whose declared bound is above the budget is told before anything is bought', async () => {
  const lanes = [{ match: 'openai/gpt-5', usdPerCell: 0.5 }]
  const { provider, inspected } = await run(
    await project('modes'),
    await startProvider(),
    {},
    { mode: 'live', budget: { usd: 0.3 }, capacity: { lanes } },
    { FILES: 'unjudged.eval.ts', JUDGE_LANE: 'openai/gpt-5' },
  )
  expect(provider.calls).toEqual([])
  for (const { status, reason, failure } of inspected.records) {
    expect({ status, reason }).toEqual({ status: 'not_run', reason: 'budget' })
    expect(failure?.message).toMatch(/which takes \$0\.50\d* for its judge \(openai\/gpt-5\): \$0\.0+ spent of \$0\.30/)
  }
})

test('a budget that not even the first request may cost buys nothing, and the cell says how much it is', async () => {
  const { result, provider, inspected } = await run(
    await project('modes'),
    await startProvider(MILLION),
    { variants: { a: { model: 'gpt-4o-mini' } }, scenarios: names(2) },
    { mode: 'live', budget: { usd: 0.000_01 } },
  )
  expect(provider.calls).toEqual([])
  for (const record of inspected.records) {
    // 16,384 tokens of an answer that nothing bounds, at 0.60 USD per million.
    expect(record).toMatchObject({ status: 'not_run', reason: 'budget', cost: { usd: 0 } })
    expect(record.failure?.message).toMatch(
      /the request may cost \$0\.0098\d+ \(about \d+ tokens asked, .* \$0\.00001 of/,
    )
  }
  expect(result.output).toMatch(/↓ .*not run: budget: .*the request may cost \$0\.0098/)
})

test.each([
  ['its variant names', { model: 'gpt-nobody-knows' }, 'openai/gpt-nobody-knows'],
  ['shows on the wire', { asks: 'nobody-knows' }, 'openai/nobody-knows'],
])('a price that nobody knows, of a model that %s, is refused before anything is sent', async (_, variant, lane) => {
  const { result, provider, inspected } = await run(
    await project('modes'),
    await startProvider(MILLION),
    { variants: { known: { model: 'gpt-4o-mini' }, variant }, scenarios: names(2), budget: { usd: 5 } },
    { mode: 'live', capacity: { cells: 1 } },
  )
  expect(provider.calls.map(({ body }) => JSON.parse(body).model)).not.toContain(lane.slice('openai/'.length))
  expect(result.output).toContain(`{ match: "${lane}", price: { input, output } }`)
  expect(result.output).toContain('usdPerCell')
  expect(result.code).toBe(1)
  if ('model' in variant) {
    expect(provider.calls, 'the campaign is refused whole').toEqual([])
    expect(inspected.records).toEqual([])
  } else {
    const of = inspected.records.filter(({ variantId }) => variantId === 'variant')
    expect(of.map(({ reason }) => reason)).toEqual(['budget', 'budget'])
  }
})

test('with a budget of 0 recordings are served, and what has none is not run', async () => {
  const root = await project('modes')
  const provider = await startProvider(MILLION)
  const variants = { a: { model: 'gpt-4o-mini' } }
  await run(root, provider, { variants, scenarios: ['kept'] }, {})
  provider.fresh()
  const { inspected } = await run(
    root,
    provider,
    { variants, scenarios: ['kept', 'new'] },
    {},
    { EVALS_BUDGET_USD: '0' },
  )
  expect(provider.fresh()).toEqual([])
  expect(inspected.cell('budget', 'kept')).toMatchObject({ status: 'scored', provenance: 'replayed' })
  expect(inspected.cell('budget', 'new')).toMatchObject({ status: 'not_run', reason: 'budget' })
  expect(inspected.cell('budget', 'new').failure?.message).toContain('only recordings are served')
})

test('a closed lane hands its cells to its equivalent, at the price declared for it', async () => {
  const { result, provider, inspected } = await run(
    await project('modes'),
    await startProvider((call, response) => {
      if (call.host === 'acme.openai.azure.com') return MILLION(call, response)
      response.writeHead(401, json).end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')
      return true
    }),
    { variants: { a: { model: 'gpt-4o-mini' } }, scenarios: names(3) },
    {
      mode: 'live',
      budget: { usd: 10 },
      capacity: {
        cells: 1,
        lanes: [
          { match: 'openai/*', equivalent: ['azure/gpt-4o-mini'] },
          { match: 'azure/*', price: { input: 2, output: 0 } },
        ],
      },
    },
  )
  expect(provider.calls.map(({ host }) => host)).toEqual(['api.openai.com', ...Array(2).fill('acme.openai.azure.com')])
  expect(inspected.records.map(({ status, lane, cost }) => ({ status, lane, usd: cost.usd }))).toEqual([
    { status: 'infra_error', lane: 'openai/gpt-4o-mini', usd: 0 },
    ...Array(2).fill({ status: 'scored', lane: 'azure/gpt-4o-mini', usd: 2 }),
  ])
  const admitted = inspected.entries.flatMap((entry) => (entry.kind === 'admitted' ? [entry] : []))
  expect(admitted.map(({ failover }) => failover)).toEqual([undefined, ...Array(2).fill('azure/gpt-4o-mini')])
  expect(admitted.every(({ heldMicroUsd = 0 }) => heldMicroUsd > 0)).toBe(true)
  const { capacity, warnings = [] } = inspected.reports.budget ?? {}
  const failover = { lane: 'azure/gpt-4o-mini', cells: 2, calls: 2, variants: [{ variant: 'a', cells: 2, of: 3 }] }
  expect(capacity?.failovers).toEqual([failover])
  expect(capacity?.lanes?.map(({ lane, requests, closed }) => [lane, requests, closed?.reason])).toEqual([
    ['azure/gpt-4o-mini', 2, undefined],
    ['openai/gpt-4o-mini', 1, 'lane-failed'],
  ])
  const warning = warnings.find(({ code }) => code === 'failover')?.text
  expect(warning).toBe(
    'azure/gpt-4o-mini served 2 cells (2 calls) in place of their declared lane, of every variant alike: a 2 of 3',
  )
  const page = await readFile(join(inspected.dir, 'reports/budget.html'), 'utf8')
  expect(page).toContain('azure/gpt-4o-mini served 2 cells (2 calls)')
  expect(page).toContain('Budget: $4.00 spent; budget $10.0 of the run.')
  expect(result.output.replaceAll(/\s+/g, ' ')).toContain('BUDGET $4.00 spent; budget $10.0 of the run')
  // What the run wrote down gives the same report again.
  expect(await runHere(dirname(dirname(inspected.dir)), ['report'])).toMatchObject({ code: 0 })
  const again = await readFile(join(inspected.dir, 'reports/budget.json'), 'utf8')
  expect(JSON.parse(again)).toEqual(inspected.reports.budget)
})

test('an unknown bill of a first cell keeps what its call may have cost, not all that was held before one was known', async () => {
  const withoutUsage: Answer = ({ body }, response) => {
    const { usage: _, ...answer } = JSON.parse(completion(JSON.parse(body).model, 'an answer', 1))
    response.writeHead(200, json).end(JSON.stringify(answer))
    return true
  }
  const root = await project('modes')
  const { provider, inspected } = await run(
    root,
    await startProvider(withoutUsage),
    { variants: { a: { model: 'gpt-4o-mini' } }, scenarios: names(2), budget: { usd: 1 } },
    { mode: 'live', capacity: { cells: 1 } },
  )
  expect(provider.calls).toHaveLength(2)
  const [first] = inspected.entries.flatMap((entry) => (entry.kind === 'admitted' ? [entry] : []))
  expect(first?.heldMicroUsd).toBe(1_000_000)
  const [state] = inspected.entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))
  const { unknownUsd = 0, unknownCells } = inspected.reports.budget?.budget ?? {}
  expect(unknownCells).toBe(2)
  // Twice 16,384 tokens of an answer that nothing bounds.
  expect(unknownUsd).toBeCloseTo(2 * 0.00984, 4)
  expect(Math.round(unknownUsd * 1e6)).toBe(state?.unknownMicroUsd)
  expect((await runHere(root, ['reconcile'])).stdout.match(/\$0\.0098\d+ held$/gm)).toHaveLength(2)
  expect(await runHere(root, ['report'])).toMatchObject({ code: 0 })
  expect((await newestRun(root)).reports.budget).toEqual(inspected.reports.budget)
})

test('a bill that nobody knows keeps what was held for it, is listed, and is settled by hand once', async () => {
  const root = await project('modes')
  const { result, provider, inspected } = await run(
    root,
    await startProvider(MILLION),
    { variants: { a: { asks: 'nobody-knows', lane: 'house/a' } }, scenarios: names(5), budget: { usd: 1 } },
    { mode: 'live', capacity: { lanes: [{ match: '*', usdPerCell: 0.3 }] } },
  )
  expect(provider.calls, 'three times 0.30').toHaveLength(3)
  expect(inspected.reports.budget?.budget).toEqual({
    usd: 1,
    runUsd: null,
    spentUsd: 0,
    heldUsd: 0,
    unknownUsd: 0.9,
    unknownCells: 3,
    reconciledCells: 0,
    overUsd: 0,
  })
  expect(result.output.replace(/\s+/g, ' ')).toContain('unknown bill of 3 cells: $0.900 kept')
  const [state] = inspected.entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))
  expect(state).toMatchObject({
    campaignId: 'budget',
    limitMicroUsd: 1_000_000,
    unknownMicroUsd: 900_000,
    unknownCalls: 3,
  })

  const cli = (...args: string[]) => runHere(root, ['reconcile', ...args])
  const listed = await cli()
  const cells = [
    ...listed.stdout.matchAll(/^ {2}([0-9a-f]{16}) {2}budget > a > case \d > seed 0: scored, .*\$0\.3 held$/gm),
  ]
  expect(cells).toHaveLength(3)
  const [first = '', second = ''] = cells.map(([, id = '']) => id)
  expect(await cli('--cell', first, '--usd', '0.25')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 cell'),
  })
  expect(await cli('--cell', first, '--usd', '0.25'), 'the same again changes nothing').toMatchObject({ code: 0 })
  expect((await cli('--cell', first, '--usd', '0.26')).stderr).toContain('was settled at $0.25 already')
  for (const [args, said] of [
    [['--cell', second], 'name the cell and the amount'],
    [['--cell', second, '--usd', 'free'], '--usd "free" is no amount'],
    [['--cell', second, '--all', '--usd', '1'], 'exclude each other'],
    [['--cell', 'abc', '--usd', '1'], 'has no unknown bill of a cell "abc"'],
  ] as const) {
    const refused = await cli(...args)
    expect(refused.stderr).toContain(said)
    expect(refused.code).toBe(2)
  }
  expect(await runHere(root, ['report'])).toMatchObject({ code: 0 })
  expect((await newestRun(root)).reports.budget?.budget).toMatchObject({
    spentUsd: 0.25,
    unknownUsd: 0.6,
    unknownCells: 2,
    reconciledCells: 1,
  })
  expect(await cli('--all', '--usd', '0')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 cells') })
  expect((await cli()).stdout).toContain('every bill is known')
  const again = await runHere(root, ['report'])
  expect(again.stdout.replace(/\s+/g, ' ')).toContain(
    '$0.250 spent; budget $1.00 of the campaign; bill of 3 cells settled',
  )
  const { records } = await newestRun(root)
  expect(records.filter(({ cost }) => cost.usd !== null).map(({ cost }) => cost.usd)).toEqual([0.25, 0, 0, 0, 0])
})
