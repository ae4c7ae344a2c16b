import { expect, test } from 'vitest'
import type { LaneTraffic } from '../../src/core/capacity/lane-traffic.ts'
import { runBudgetText } from '../../src/core/report/budget.ts'
import type { CapacityReport } from '../../src/core/report/capacity.ts'
import { laneSentences } from '../../src/reporter/capacity.ts'
import { capacity as html } from '../../src/reporter/html/capacity.ts'
import type { Model } from '../../src/reporter/html/model.ts'
import { renderMarkdown } from '../../src/reporter/markdown.ts'
import { renderTerminal } from '../../src/reporter/terminal.ts'
import { report } from './reports.ts'

const lane = (name: string, part: Partial<LaneTraffic> = {}): LaneTraffic => ({
  lane: name,
  account: null,
  requests: 1_480,
  peak: 16,
  concurrency: 16,
  throttled: 0,
  faults: 0,
  waitedMs: { cells: 0, slots: 0, pace: 0, hold: 0, budget: 0, 'first-cell': 0 },
  closed: null,
  ...part,
})
const busy = lane('openai/gpt-5', {
  account: 'acme',
  throttled: 3,
  faults: 1,
  waitedMs: { cells: 0, slots: 41_000, pace: 0, hold: 126_000, budget: 0, 'first-cell': 900 },
})
const closed = lane('z/m', {
  requests: 1,
  peak: 1,
  closed: { reason: 'lane-failed', detail: '::error::no <b>key</b>' },
})
const CAPACITY: CapacityReport = { lanes: [busy, lane('quiet/m'), closed], failovers: [] }
const OPTIONS = { width: 80, color: false, unicode: true, verbose: true, project: 'evals', root: '' }

const htmlOf = (given: ReturnType<typeof report>) => String(html({ report: given } as Model) ?? '')

test('lanes that made somebody wait have a line each; all of them stand in the documents', () => {
  const given = report({ capacity: CAPACITY })
  expect(laneSentences(given)).toEqual([
    'openai/gpt-5: 1,480 requests, up to 16 of 16 at once; waited 2.10 min for holds, 41.0 s for its slots, 900 ms for its first cell; 3 throttled (429, 503, 529), 1 fault',
    'z/m: 1 request, up to 1 of 16 at once; closed (lane-failed): ::error::no <b>key</b>',
  ])
  const terminal = renderTerminal(given, OPTIONS)
  expect(terminal).toContain('LANE  openai/gpt-5: 1,480 requests, up to 16 of 16 at once; waited 2.10 min for')
  expect(terminal).not.toContain('quiet/m')
  expect(terminal).not.toMatch(/^\s*::/m)
  const markdown = renderMarkdown(given)
  expect(markdown).toContain('- `quiet/m`: 1,480 requests, up to 16 of 16 at once; nothing waited')
  expect(markdown).not.toContain('<b>key')
  const page = htmlOf(given)
  expect(page).toContain('openai/gpt-5 (account acme)')
  expect(page).toContain('quiet/m')
  expect(page).not.toContain('<b>key')
})

test('what nobody wrote down is unknown with its reason, and a replay says nothing of lanes', () => {
  const killed = report({ capacity: { lanes: null, refused: 'cut_off', failovers: [] } })
  const why = 'unknown (the run was cut off before it wrote it down)'
  expect(laneSentences(killed)).toEqual([`what was asked of the lanes is ${why}`])
  expect(renderMarkdown(killed)).toContain(why)
  expect(htmlOf(killed)).toContain(why)
  const replayed = report()
  expect(laneSentences(replayed)).toEqual([])
  expect(renderMarkdown(replayed)).not.toContain('Capacity')
  expect(htmlOf(replayed)).toBe('')
})

test('what was spent, held and is unknown stands on the page of the campaign', () => {
  const budget = {
    usd: 2,
    runUsd: 5,
    spentUsd: 1.25,
    heldUsd: 0.5,
    unknownUsd: 0.3,
    unknownCells: 1,
    reconciledCells: 0,
    overUsd: 0,
  }
  const page = htmlOf(report({ budget }))
  for (const part of [
    'Budget: $1.25 spent; budget $2.00 of the campaign, $5.00 of the run; ',
    'unknown bill of 1 cell: $0.300 kept',
    '$0.500 held for cells that have not ended',
  ]) {
    expect(page).toContain(part)
  }
})

test('where the budget of a run stood, unknown bills among it', () => {
  const state = {
    limitMicroUsd: 5_000_000,
    chargedMicroUsd: 1_250_000,
    heldMicroUsd: 0,
    unknownMicroUsd: 0,
    unknownCalls: 0,
    overshootMicroUsd: 0,
  }
  expect(runBudgetText(state)).toBe('budget of the run: $1.25 spent of $5.00, $0.00 held, no bill unknown')
  expect(runBudgetText({ ...state, limitMicroUsd: 300, chargedMicroUsd: 0 })).toBe(
    'budget of the run: $0.00 spent of $0.0003, $0.00 held, no bill unknown',
  )
  expect(
    runBudgetText({
      ...state,
      heldMicroUsd: 600_000,
      unknownMicroUsd: 300_000,
      unknownCalls: 2,
      overshootMicroUsd: 10_000,
    }),
  ).toBe(
    'budget of the run: $1.25 spent of $5.00, $0.60 held, $0.30 kept for 2 calls whose bill nobody knows (vitest-campaign reconcile), $0.01 charged beyond what was held',
  )
})
