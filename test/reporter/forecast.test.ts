import { expect, test } from 'vitest'
import type { CampaignForecast, RunForecast } from '../../src/core/report/run-forecast.ts'
import { renderForecast } from '../../src/reporter/forecast.ts'

const none = { planned: 0, here: 0, carried: 0, rescored: 0, held: 0, replayed: 0, live: 0 }

const campaign = (campaignId: string, more: Partial<CampaignForecast> = {}): CampaignForecast => ({
  campaignId,
  file: 'evals/triage.eval.ts',
  variants: 2,
  scenarios: 60,
  seeds: 3,
  cells: { ...none, planned: 360, here: 360, live: 240, replayed: 60, carried: 60 },
  uncaptured: false,
  budgetUsd: null,
  sources: [],
  power: null,
  ...more,
})

const RUN: RunForecast = {
  project: 'evals',
  policy: { traffic: 'new', reason: 'recorded cells replay, new cells go live and are recorded' },
  shard: null,
  campaigns: [
    campaign('triage', {
      power: {
        drop: 0.09,
        scale: [0, 1],
        units: 60,
        unit: 'scenario',
        spread: 0.25,
        spreadFrom: 'earlier-run',
      },
      sources: [{ kind: 'run', runId: '20261130T004447Z-038519', cells: 60, changed: true }],
    }),
    campaign('tone', {
      cells: { ...none, planned: 120, here: 40, live: 20, rescored: 12, held: 8 },
      budgetUsd: 1.5,
      sources: [
        { kind: 'run', runId: '20261130T004447Z-038519', cells: 20, changed: false },
        { kind: 'recordings', runId: null, cells: 30, changed: false },
      ],
    }),
  ],
  forecast: {
    cells: 272,
    calls: 1_140,
    microUsd: { low: 1_200_000, mean: 2_100_000, high: 4_800_000 },
    minMs: 840_000,
    boundBy: { bound: 'tokensPerMinute', lane: 'openai/gpt-5', account: 'acme' },
    unknown: [{ what: ['tokens'], cells: 40, why: 'no call like theirs that was seen reports its tokens' }],
  },
  budgetUsd: 5,
  problems: [],
}

const WIDE = { width: 80, unicode: true }

test('cells, calls and money, time, what is not known, where it is from, and what could be shown', () => {
  expect(renderForecast(RUN, WIDE)).toBe(
    [
      'PLAN  evals: 2 campaigns, 400 of 480 cells: 260 live, 12 to be scored only, 60',
      '  replayed, 60 carried over, 8 held back (EVALS_RECONCILE)',
      '  triage: 360 cells: 240 live, 60 replayed, 60 carried over (2 variants × 60',
      '  scenarios × 3 seeds)',
      '  tone: 40 of 120 cells: 20 live, 12 to be scored only, 8 held back',
      '  (EVALS_RECONCILE) (2 variants × 60 scenarios × 3 seeds)',
      'CALLS  about 1,140; about $2.10 ($1.20 to $4.80, as the cheapest and the dearest',
      '  cell seen); budget $5.00 of the run, $1.50 of tone',
      'TIME  at least 14.0 min, bound by tokens per minute of account acme; waits for a',
      '  throttled provider come on top',
      'UNKNOWN  tokens of 40 cells: no call like theirs that was seen reports its',
      '  tokens',
      'FROM  80 cells of run 20261130T004447Z-038519, before a campaign was changed; 30',
      '  cells of recordings',
      'POWER  triage: a drop of 9 pp or more would be caught 4 times in 5, if',
      '  differences spread by 25 pp, as in an earlier run (60 scenarios)',
    ].join('\n'),
  )
})

test('nothing that is bought, nothing that is paid, and what would not run', () => {
  const replay = {
    ...RUN,
    campaigns: [campaign('triage')],
    forecast: null,
    policy: { traffic: 'replay', reason: 'CI' },
  }
  expect(renderForecast({ ...replay, problems: ['campaign "b" (b.eval.ts:1): a budget is set'] }, WIDE)).toBe(
    [
      'PLAN  evals: 1 campaign, 360 cells: 240 live, 60 replayed, 60 carried over',
      'CALLS  none: nothing is bought (CI)',
      'REFUSED  campaign "b" (b.eval.ts:1): a budget is set',
    ].join('\n'),
  )
  const { forecast } = RUN
  if (forecast === null) throw new Error('the sample has a forecast')
  const free = { ...forecast, microUsd: { low: 0, mean: 0, high: 0 }, unknown: [] }
  const shown = renderForecast({ ...RUN, forecast: free, shard: { index: 1, count: 3 }, budgetUsd: null }, WIDE)
  expect(shown).toContain('evals, shard 1 of 3: ')
  expect(shown).toContain('about 1,140; nothing is paid; budget $1.50 of tone')
})

test('a budget that is not enough, or buys nothing, says so, be it the campaign’s', () => {
  const flat = (run: RunForecast): string => renderForecast(run, WIDE).replaceAll('\n  ', ' ')
  const alone = { ...RUN, campaigns: [campaign('tone', { budgetUsd: 1.5 })] }
  expect(flat(alone)).toContain('budget $5.00 of the run, $1.50 of tone: not enough, some cells will be not_run')
  expect(flat({ ...RUN, budgetUsd: 2 })).toContain('$1.50 of tone: not enough')
  expect(flat({ ...RUN, budgetUsd: 0 })).toContain('$1.50 of tone: nothing is bought, live cells will be not_run')
  expect(flat(RUN)).not.toMatch(/not enough|nothing is bought/)
})

test('hostile names stay on their line, in ASCII where a terminal has no more, however narrow it is', () => {
  const evil = `::error::x\n##[error]y \u202e\u0007${'long '.repeat(40)}`
  const hostile = { ...RUN, project: evil, campaigns: [campaign(evil), campaign(`b${evil}`)], problems: [evil] }
  for (const width of [20, 40, 80]) {
    const text = renderForecast(hostile, { width, unicode: false })
    expect(text).not.toMatch(/^\s*::|##\[|[^\n -~]/m)
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(width)
  }
  const many = { ...RUN, campaigns: Array.from({ length: 30 }, (_, i) => campaign(`c${i}`)) }
  expect(renderForecast(many, WIDE)).toContain('+ 18 more campaigns')
})

test('a block after another one of the project says what is new', () => {
  const told = new Set<string>()
  const [triage, tone] = RUN.campaigns
  if (triage === undefined || tone === undefined) throw new Error('two campaigns')
  const first = renderForecast({ ...RUN, campaigns: [triage] }, { ...WIDE, told })
  expect(first).toContain('POWER  a drop of 9 pp')
  expect(first).toContain('UNKNOWN  tokens of 40 cells')
  const second = renderForecast(RUN, { ...WIDE, told })
  expect(second).toMatch(/^PLAN {2}evals: 2 campaigns/)
  expect(second).toContain('  tone: 40 of 120 cells')
  expect(second).toContain('FROM  ')
  expect(second).not.toMatch(/UNKNOWN|POWER|TIME/)
  expect(renderForecast(RUN, { ...WIDE, told }), 'nothing is new').toBe('')
})

test('a budget that is enough on the mean alone says so', () => {
  const calls = (usd: number) => renderForecast({ ...RUN, budgetUsd: usd }, { width: 400, unicode: true })
  const dear = 'not enough if all are as dear as the dearest one seen'
  expect(calls(4.8)).not.toContain('not enough')
  expect(calls(2.1)).toContain(`$1.50 of tone: ${dear}`)
  expect(calls(2)).toContain('not enough, some cells will be not_run')
  expect(calls(2)).not.toContain(dear)
})
