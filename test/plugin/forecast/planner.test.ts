import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cellsOf } from '../../../src/core/campaign/cells.ts'
import { expectedOf } from '../../../src/core/capacity/seen-cells.ts'
import type { RunForecast } from '../../../src/core/report/run-forecast.ts'
import { evidenceOf } from '../../../src/plugin/forecast/evidence.ts'
import { Planner, type PlannerContext } from '../../../src/plugin/forecast/planner.ts'
import { planOf } from '../../core/journal/samples.ts'
import { REPOSITORY } from '../../harness/run-vitest.ts'
import { filesBelow } from '../modes/project.ts'
import { contextOf, type Driven, died, drive, drivenPlan } from '../resume/driven.ts'

let folder: string
let whole: Driven
let journal: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'planner-'))
  whole = await drive(join(folder, 'whole'), { calls: [] })
  journal = await readFile(join(whole.dir, 'journal.jsonl'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function planned(root: string, context: Partial<PlannerContext> = {}, plan = drivenPlan): Promise<RunForecast> {
  const planner = new Planner({ ...contextOf(root, null, () => {}), ...context })
  await planner.plan({ file: plan.file, campaigns: [{ plan, selection: 'all', skipped: false }] }, 1)
  return planner.forecast()
}

const files = async (root: string) => (await filesBelow(root, () => true)).map(([path, bytes]) => [path, String(bytes)])

test('calls, judges among them, and their bill are those of the run before', async () => {
  const { campaigns, forecast, problems } = await planned(join(folder, 'whole'))
  expect(problems).toEqual([])
  // Of twelve cells every second one has a judge; a call costs two micro-USD.
  expect(forecast).toMatchObject({ cells: 12, calls: 18, microUsd: { low: 24, mean: 36, high: 48 }, unknown: [] })
  const [campaign] = campaigns
  expect(campaign?.cells).toMatchObject({ planned: 12, here: 12, live: 12, carried: 0 })
  expect(campaign?.sources).toMatchObject([{ kind: 'run', cells: 12, changed: false }])
})

test('cut after any line: what it says is carried over is what the next run carries, and it touches nothing', async () => {
  let at = 0
  const cuts: number[] = []
  for (let end = journal.indexOf(10); end !== -1; end = journal.indexOf(10, end + 1)) {
    // Each cut is a whole run: some of them tell as much as all.
    if (++at > 2 && at % 9 === 0) cuts.push(end + 1)
  }
  expect(cuts.length).toBeGreaterThan(3)
  const seen = new Set<number>()
  for (const bytes of cuts) {
    const root = join(folder, 'cut')
    const ledger = await died(whole, root, bytes, () => false)
    await mkdir(join(root, 'evals'))
    const before = await files(root)
    const { campaigns, problems } = await planned(root)
    expect(problems).toEqual([])
    expect(await files(root)).toEqual(before)
    const calls = ledger.calls.length
    const next = await drive(root, ledger)
    const again = new Set(ledger.calls.slice(calls).flatMap(({ cellId, role }) => (role === 'subject' ? [cellId] : [])))
    const scored = ledger.calls.slice(calls).filter(({ cellId }) => !again.has(cellId)).length
    const { carried, rescored, live } = campaigns[0]?.cells ?? {}
    expect({ carried, rescored, live }).toEqual({
      carried: next.records.length - again.size - scored,
      rescored: scored,
      live: again.size,
    })
    seen.add(carried ?? -1)
  }
  expect(seen.size, 'cuts that differ').toBeGreaterThan(2)
})

test('a run that was killed says what its cells cost, and of variants that call nothing no cell is read', async () => {
  const root = join(folder, 'killed')
  // All settled but the last, and nothing written that comes at the end.
  const end = journal.lastIndexOf('"kind":"settled"')
  await died(whole, root, journal.lastIndexOf(10, end) + 1, () => false)
  await mkdir(join(root, 'evals'))
  await rm(join(root, '.evals', basename(whole.dir), 'records.jsonl'))
  const manifest = JSON.parse(await readFile(join(whole.dir, 'manifest.json'), 'utf8')) as object
  const path = join(root, '.evals', basename(whole.dir), 'manifest.json')
  await writeFile(path, JSON.stringify({ ...manifest, end: null, campaigns: [] }))
  const afresh = await planned(root, { resume: null })
  expect(afresh.problems).toEqual([])
  expect(afresh.forecast).toMatchObject({ cells: 12, unknown: [], microUsd: { low: 24, high: 48 } })
  expect(afresh.campaigns[0]?.sources).toMatchObject([{ kind: 'run', cells: 11, changed: false }])
  const one = cellsOf(drivenPlan).flatMap(({ cellId, variant }) => (variant.id === 'a' ? [cellId] : []))
  const planner = new Planner({ ...contextOf(root, null, () => {}), resume: null })
  await planner.plan({ file: drivenPlan.file, campaigns: [{ plan: drivenPlan, selection: one, skipped: false }] }, 1)
  const [part] = planner.forecast().campaigns
  expect(part?.sources[0]?.cells).toBeLessThanOrEqual(one.length)
})

test('what would be refused is said, and a budget of a shard is its share', async () => {
  const root = join(folder, 'whole')
  const planner = new Planner(contextOf(root, null, () => {}))
  const campaign = { plan: drivenPlan, selection: 'all', skipped: false } as const
  const replies = await planner.plan({ file: 'a.eval.ts', campaigns: [campaign, campaign] }, 1)
  expect(replies.campaigns.map(({ refused }) => refused === null)).toEqual([true, false])
  expect(planner.forecast().problems).toEqual([expect.stringContaining('it is declared twice, first in')])
  const part = await planned(root, { shard: { index: 1, count: 3 }, budget: 100 })
  expect(part).toMatchObject({ budgetUsd: 0.000033, shard: { index: 1, count: 3 } })
  const none = await planned(root, { policy: { traffic: 'replay', reason: 'CI' } })
  expect(none).toMatchObject({ forecast: null, campaigns: [{ cells: { replayed: 12, live: 0 } }] })
})

test('without a run the committed recordings say it, and a damaged one is passed over', async () => {
  const root = join(folder, 'recorded')
  await cp(join(REPOSITORY, 'examples/triage/__recordings__'), join(root, '__recordings__'), { recursive: true })
  await writeFile(join(root, '__recordings__/triage/haiku/too-small/1.jsonl'), 'not a recording')
  const variants = ['current', 'concise', 'haiku', 'new']
  const scenarios = ['pay-button', 'too-small', 'charged-twice', 'wrong-colour']
  const plan = {
    ...planOf('triage', variants, scenarios, 3),
    file: 'triage.eval.ts',
  }
  const options = { root, project: 'evals', runId: null, prices: [], variants }
  const { cells, sources, report } = await evidenceOf(plan, 'a fingerprint', cellsOf(plan), options)
  expect(report).toBeNull()
  expect(sources).toEqual([{ kind: 'recordings', runId: null, cells: 35, changed: false }])
  const of = (id: string) => expectedOf(cells.filter(({ variantId }) => variantId === id))
  expect(of('current')?.uses).toMatchObject([{ lane: 'openai/gpt-5-mini', role: 'subject', callsPerCell: 1 }])
  expect(of('haiku')?.uses).toMatchObject([{ lane: 'anthropic/claude-haiku-4-5', callsPerCell: 1 }])
  for (const id of ['current', 'concise', 'haiku']) {
    const { microUsd, msPerCell, uses } = of(id) ?? { microUsd: null, msPerCell: null, uses: [] }
    expect(microUsd?.low).toBeGreaterThan(0)
    expect(microUsd?.low).toBeLessThanOrEqual(microUsd?.high ?? 0)
    expect(msPerCell).toBeGreaterThan(0)
    expect(uses[0]?.tokensPerCall).toBeGreaterThan(0)
  }
  expect(of('new'), 'a variant that nobody recorded').toBeNull()
})
