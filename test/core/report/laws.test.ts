import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { cases } from '../../harness/fast-check.ts'
import { type Given, inputOf, planOf, recordsOf } from './records.ts'

/** Scores of current and concise, scenario by scenario and seed by seed, in tenths. */
interface Table {
  readonly current: readonly (readonly number[])[]
  readonly concise: readonly (readonly number[])[]
}

const tableOf = (
  values: fc.Arbitrary<number>,
  scenarios: { min: number; max: number },
  seeds: number,
): fc.Arbitrary<Table> =>
  fc.integer(scenarios).chain((count) => {
    const arm = fc.array(fc.array(values, { minLength: seeds, maxLength: seeds }), {
      minLength: count,
      maxLength: count,
    })
    return fc.record({ current: arm, concise: arm })
  })
const tenths = fc.integer({ min: 0, max: 10 }).map((x) => x / 10)
const tables = tableOf(tenths, { min: 2, max: 14 }, 2)

type Cell = readonly [arm: keyof Table, scenario: number, seed: number]

function reportOf(
  table: Table,
  options: Parameters<typeof planOf>[0] = {},
  change?: (cell: Cell) => Given | undefined,
): CampaignReport {
  const plan = planOf({ scenarios: table.current.length, seeds: table.current[0]?.length ?? 1, ...options })
  return buildReport(
    inputOf(
      plan,
      recordsOf(plan, ({ variant }, { scenario, seed }) => {
        const arm = variant === 'current' ? 'current' : 'concise'
        return change?.([arm, scenario, seed]) ?? table[arm][scenario]?.[seed] ?? 0
      }),
    ),
  )
}
const only = (report: CampaignReport) => {
  const [candidate] = report.candidates
  if (candidate === undefined) throw new Error('no candidate')
  return candidate
}
const difference = (report: CampaignReport) => {
  const found = only(report).difference
  if (found === null) throw new Error('no difference')
  return found
}
const close = (actual: number | null, expected: number | null): void => {
  if (expected === null || actual === null) expect(actual).toBe(expected)
  else expect(actual).toBeCloseTo(expected, 4)
}

describe('laws of the report', () => {
  it('scales with the scores', () => {
    fc.assert(
      fc.property(tables, (table) => {
        const times = (arm: Table['current']) => arm.map((row) => row.map((y) => y * 10))
        const one = reportOf(table)
        const ten = reportOf({ current: times(table.current), concise: times(table.concise) }, { scale: [0, 10] })
        close(difference(ten).lo, difference(one).lo === null ? null : (difference(one).lo ?? 0) * 10)
        close(difference(ten).est, (difference(one).est ?? 0) * 10)
        expect(only(ten).outcome).toBe(only(one).outcome)
        expect(only(ten).signFlip?.p).toBe(only(one).signFlip?.p)
      }),
      cases(150),
    )
  })

  it('shifts of both arms change nothing', () => {
    fc.assert(
      fc.property(tables, (table) => {
        const plus = (arm: Table['current']) => arm.map((row) => row.map((y) => y + 3))
        const one = reportOf(table)
        const other = reportOf({ current: plus(table.current), concise: plus(table.concise) }, { scale: [3, 4] })
        close(difference(other).est, difference(one).est)
        close(difference(other).lo, difference(one).lo)
        close(difference(other).hi, difference(one).hi)
        expect(only(other).outcome).toBe(only(one).outcome)
      }),
      cases(150),
    )
  })

  it('swapping the arms negates the difference', () => {
    fc.assert(
      fc.property(tables, (table) => {
        const one = difference(reportOf(table))
        const other = difference(reportOf({ current: table.concise, concise: table.current }))
        close(other.est, one.est === null ? null : -one.est)
        close(other.lo, one.hi === null ? null : -one.hi)
        close(other.hi, one.lo === null ? null : -one.lo)
      }),
      cases(150),
    )
  })

  it('order of records and of the plan, run ids and clocks leave every byte unchanged', () => {
    const cellKinds = fc.constantFrom<Given>(
      0.3,
      1,
      0,
      null,
      { status: 'task_fail' },
      { status: 'infra_error', reason: 'provider-fault' },
    )
    fc.assert(
      fc.property(
        fc.array(cellKinds, { minLength: 36, maxLength: 36 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 1e6 })),
        fc.string({ minLength: 1, maxLength: 9 }),
        (kinds, numbers, runId) => {
          const plan = planOf({ scenarios: 6, seeds: 2, variants: ['current', 'concise', 'terse'] })
          let at = 0
          // Replayed: a live cell's wall clock is what its latency is made of.
          const records = recordsOf(plan, () => kinds[at++] ?? null).map((record) => ({
            ...record,
            wallMs: null,
            provenance: 'replayed' as const,
          }))
          const shuffle = <T>(items: readonly T[]): T[] =>
            items
              .map((item) => ({ item, key: numbers.next().value }))
              .sort((a, b) => a.key - b.key)
              .map(({ item }) => item)
          const again: RunRecord[] = shuffle(records).map((record) => ({
            ...record,
            runId,
            startedAt: '2030-12-31T23:59:59.000Z',
            queueMs: record.queueMs + 17,
          }))
          const shuffled = {
            ...plan,
            variants: shuffle(plan.variants),
            scenarios: shuffle(plan.scenarios),
            seeds: shuffle(plan.seeds),
          }
          const first = JSON.stringify(buildReport(inputOf(plan, records)))
          expect(JSON.stringify(buildReport(inputOf(shuffled, again)))).toBe(first)
        },
      ),
      cases(150),
    )
  })

  it('naming seeds otherwise changes no number', () => {
    fc.assert(
      fc.property(tableOf(tenths, { min: 2, max: 12 }, 3), (table) => {
        const turned = (arm: Table['current']) => arm.map(([a = 0, b = 0, c = 0]) => [c, a, b])
        const { candidates, verdict } = reportOf(table)
        const other = reportOf({ current: turned(table.current), concise: turned(table.concise) })
        // The texts of single seeds aside.
        const numbers = (all: CampaignReport['candidates']) => all.map((one) => ({ ...one, worst: [] }))
        expect(JSON.stringify(numbers(other.candidates))).toBe(JSON.stringify(numbers(candidates)))
        expect(other.verdict).toEqual(verdict)
      }),
      cases(150),
    )
  })

  it('every seed twice does not narrow the interval', () => {
    fc.assert(
      fc.property(tables, (table) => {
        const twice = (arm: Table['current']) => arm.map((row) => [...row, ...row])
        const one = difference(reportOf(table))
        const other = difference(reportOf({ current: twice(table.current), concise: twice(table.concise) }))
        close(other.lo, one.lo)
        close(other.hi, one.hi)
      }),
      cases(150),
    )
  })

  it('one more missing cell never narrows the bounds', () => {
    fc.assert(
      fc.property(
        tables,
        fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (table, picks, ofCandidate) => {
          const arm = ofCandidate ? 'concise' : 'current'
          const cells = table.current.flatMap((row, s) => row.map((_, k) => `${s} ${k}`))
          let before = only(reportOf(table)).bounds
          for (let n = 1; n <= picks.length; n++) {
            const missing = new Set(picks.slice(0, n).map((pick) => cells[pick % cells.length]))
            const after = only(
              reportOf(table, {}, ([of, s, k]) =>
                of === arm && missing.has(`${s} ${k}`) ? { status: 'infra_error' } : undefined,
              ),
            ).bounds
            expect(after?.lo).toBeLessThanOrEqual((before?.lo ?? 0) + 1e-6)
            expect(after?.hi).toBeGreaterThanOrEqual((before?.hi ?? 0) - 1e-6)
            before = after
          }
        },
      ),
      cases(150),
    )
  })

  it('adjusted p is never below raw p, and another candidate leaves the raw one alone', () => {
    const arm = fc.array(tenths, { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(arm, { minLength: 3, maxLength: 4 }), (arms) => {
        const build = (count: number) => {
          const plan = planOf({ scenarios: 8, variants: ['current', 'b', 'c', 'd'].slice(0, count) })
          const at = (id: string) => ['current', 'b', 'c', 'd'].indexOf(id)
          return buildReport(
            inputOf(
              plan,
              recordsOf(plan, ({ variant }, { scenario }) => arms[at(variant)]?.[scenario] ?? 0),
            ),
          )
        }
        const all = build(arms.length)
        for (const { adjusted, signFlip } of all.candidates) {
          expect(adjusted.method).toBe('maxT')
          expect(adjusted.p).toBeGreaterThanOrEqual(signFlip?.p ?? 1)
        }
        expect(build(2).candidates[0]?.signFlip).toEqual(all.candidates[0]?.signFlip)
      }),
      cases(150),
    )
  })

  it('a pass turned into a failure or a loss never improves the decision on its candidate', () => {
    const rank = ({ verdict }: CampaignReport): number => (verdict.red ? 0 : verdict.outcome === 'ship' ? 2 : 1)
    fc.assert(
      fc.property(
        tableOf(fc.constantFrom(0, 1), { min: 6, max: 18 }, 1),
        fc.nat(),
        fc.constantFrom<Given>({ status: 'task_fail' }, { status: 'infra_error' }, { status: 'judge_error' }, null, 0),
        (table, pick, failure) => {
          const before = reportOf(table, { coverage: 0 })
          const hit = pick % table.concise.length
          const after = reportOf(table, { coverage: 0 }, ([arm, s]) =>
            arm === 'concise' && s === hit ? (failure ?? { status: 'not_run', reason: 'missing' }) : undefined,
          )
          fc.pre(before.verdict.outcome !== 'invalid')
          fc.pre(table.concise[hit]?.[0] === 1)
          expect(rank(after)).toBeLessThanOrEqual(rank(before))
        },
      ),
      cases(150),
    )
  })

  it('two identical arms are held: never red, never inconclusive', () => {
    fc.assert(
      fc.property(tableOf(tenths, { min: 1, max: 30 }, 2), (table) => {
        const report = reportOf({ current: table.current, concise: table.current })
        expect(report.verdict).toMatchObject({ outcome: 'hold', word: 'PASS', red: false })
        // One scenario is listed: nothing is estimated from it.
        expect(report.candidates[0]?.unseenLoss?.lost).toBe(table.current.length < 2 ? undefined : 0)
      }),
      cases(150),
    )
  })

  it('no number of a report is lost by JSON, and every null of an estimate has a reason', () => {
    fc.assert(
      fc.property(tables, fc.nat(), (table, pick) => {
        const report = reportOf(table, {}, ([arm, s]) =>
          arm === 'concise' && s === pick % table.concise.length ? { status: 'skipped', reason: 'skip' } : undefined,
        )
        expect(JSON.parse(JSON.stringify(report))).toEqual(report)
        const paired = report.candidates.flatMap((one) => [one.difference, one.completeCase])
        const arms = report.variants.flatMap(({ mean, passRate, latency }) => [mean, passRate, latency.medianMs])
        for (const estimate of [...paired, ...arms]) {
          if (estimate !== null) {
            if (estimate.est === null || estimate.lo === null || estimate.hi === null)
              expect(estimate.refused).toBeDefined()
          }
        }
      }),
      cases(150),
    )
  })
})
