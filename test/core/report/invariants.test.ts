import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { CampaignReportSchema } from '../../../src/core/report/schema.ts'
import { cases } from '../../harness/fast-check.ts'
import { type Given, inputOf, planOf, recordOf, recordsOf } from './records.ts'

/** The invariants that a report owes, over campaigns with every kind of cell. */
const RUNS = cases(150)

const cell: fc.Arbitrary<Given> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0, 0.25, 0.5, 1) },
  { weight: 2, arbitrary: fc.constant<Given>({ status: 'task_fail' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Given>(
      { status: 'infra_error', reason: 'provider-fault' },
      { status: 'judge_error' },
      { status: 'capture_error' },
      { status: 'skipped', reason: 'skip' },
      { status: 'not_run', reason: 'budget' },
      null,
    ),
  },
)
const VARIANTS = ['current', 'concise', 'terse'] as const

interface Campaign {
  readonly scenarios: number
  readonly seeds: number
  readonly cells: readonly Given[]
  readonly gate: Parameters<typeof planOf>[0] extends infer P ? (P extends { gate?: infer G } ? G : never) : never
}

const gates: fc.Arbitrary<Campaign['gate']> = fc.constantFrom<Campaign['gate']>(
  {},
  { margin: 0.2 },
  { kind: 'release', margin: 0.1, target: 0.1 },
  { atLeast: 0.5 },
  { comparator: null, atLeast: 0.6, candidates: ['concise', 'terse'] },
  { guardrails: [{ name: 'cost', endpoint: 'cost', ratio: 1.2, diff: null, require: 'shown' }] },
  null,
)

const campaigns: fc.Arbitrary<Campaign> = fc
  .record({ scenarios: fc.integer({ min: 1, max: 12 }), seeds: fc.integer({ min: 1, max: 2 }), gate: gates })
  .chain((design) => {
    const length = VARIANTS.length * design.scenarios * design.seeds
    return fc.record({
      scenarios: fc.constant(design.scenarios),
      seeds: fc.constant(design.seeds),
      gate: fc.constant(design.gate),
      cells: fc.array(cell, { minLength: length, maxLength: length }),
    })
  })

function parts({ scenarios, seeds, gate, cells }: Campaign) {
  const plan = planOf({ scenarios, seeds, variants: VARIANTS, ...(gate === undefined ? {} : { gate }) })
  let at = 0
  return { plan, records: recordsOf(plan, () => cells[at++] ?? null) }
}
const build = (campaign: Campaign): CampaignReport => {
  const { plan, records } = parts(campaign)
  return buildReport(inputOf(plan, records))
}

describe('invariants', () => {
  it('1: order of variants, scenarios, seeds and rows changes no byte', () => {
    fc.assert(
      fc.property(campaigns, fc.infiniteStream(fc.nat()), (campaign, keys) => {
        const { plan, records } = parts(campaign)
        const shuffled = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, key: keys.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item)
        const again = {
          ...plan,
          variants: shuffled(plan.variants),
          scenarios: shuffled(plan.scenarios),
          seeds: shuffled(plan.seeds),
        }
        const one = JSON.stringify(buildReport(inputOf(plan, records)))
        expect(JSON.stringify(buildReport(inputOf(again, shuffled(records))))).toBe(one)
      }),
      RUNS,
    )
  })

  it('2: cells of another split and another candidate change no pair’s own statistic', () => {
    fc.assert(
      fc.property(campaigns, fc.array(cell, { minLength: 36, maxLength: 36 }), (campaign, more) => {
        const design = { seeds: campaign.seeds, gate: {} }
        const own = Array.from({ length: campaign.scenarios }, (_, i) => ({ id: `h${i}` }))
        const of = (variants: readonly string[], scenarios: readonly { id: string; split?: 'search' }[]) => {
          const plan = planOf({ ...design, variants, scenarios })
          const at = (id: string) => VARIANTS.indexOf(id as (typeof VARIANTS)[number])
          const records = recordsOf(plan, ({ variant, scenario }, { seed }) => {
            const index = Number(scenario.slice(1))
            const list = scenario.startsWith('h') ? campaign.cells : more
            const found = list[(at(variant) * campaign.scenarios + index) * campaign.seeds + seed]
            return found === undefined ? 0.5 : found
          })
          return buildReport(inputOf(plan, records)).candidates.find(({ id }) => id === 'concise')
        }
        const alone = of(['current', 'concise'], own)
        const tuned = Array.from({ length: 3 }, (_, i) => ({ id: `x${i}`, split: 'search' as const }))
        const beside = of(['current', 'concise', 'terse'], [...own, ...tuned])
        expect(beside?.completeCase?.est).toEqual(alone?.completeCase?.est)
        expect(beside?.bounds).toMatchObject({ lo: alone?.bounds?.lo, hi: alone?.bounds?.hi })
        expect(beside?.signFlip?.exact === true && alone?.signFlip?.exact === true).toBe(true)
        // The raw p alone; the level of the interval is shared with the third, as it must be.
        expect(beside?.signFlip?.p).toEqual(alone?.signFlip?.p)
      }),
      RUNS,
    )
  })

  it('3: a scored cell turned into a failed or missing one never improves its candidate’s decision', () => {
    const rank = (report: CampaignReport): number =>
      report.verdict.red ? 0 : report.candidates.some(({ outcome }) => outcome === 'ship') ? 2 : 1
    const shifts = fc.constantFrom(-1, 0, 0, 0, 1)
    fc.assert(
      fc.property(
        fc.array(shifts, { minLength: 6, maxLength: 24 }),
        fc.nat(),
        fc.constantFrom<Given>({ status: 'task_fail' }, { status: 'infra_error' }, { status: 'judge_error' }, null),
        (moves, pick, instead) => {
          const plan = planOf({ scenarios: moves.length, coverage: 0 })
          const of = (hit: number | null) =>
            buildReport(
              inputOf(
                plan,
                recordsOf(plan, ({ variant }, { scenario }) => {
                  const move = moves[scenario] ?? 0
                  if (variant === 'concise') return scenario === hit ? instead : Number(move >= 0)
                  return Number(move <= 0)
                }),
              ),
            )
          const hit = pick % moves.length
          const before = of(null)
          // A campaign with an arm that never scored is invalid before and after.
          fc.pre(before.verdict.outcome !== 'invalid')
          expect(rank(of(hit))).toBeLessThanOrEqual(rank(before))
        },
      ),
      RUNS,
    )
  })

  it('4: a candidate equal to the comparator in every score is never shipped and never red', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(0, 0.1, 1 / 3, 0.7, 1), { minLength: 1, maxLength: 3 }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.constantFrom<Campaign['gate']>({}, { margin: 0.1 }, { target: 0.05 }, { minGain: 0.01 }),
        (scores, gate) => {
          const seeds = Math.min(...scores.map(({ length }) => length))
          const plan = planOf({ scenarios: scores.length, seeds, ...(gate === undefined ? {} : { gate }) })
          const records = recordsOf(plan, (_, { scenario, seed }) => scores[scenario]?.[seed] ?? 0)
          const { candidates, verdict } = buildReport(inputOf(plan, records))
          expect(candidates[0]).toMatchObject({ outcome: 'hold', rule: '2a' })
          expect(verdict).toMatchObject({ red: false, word: 'PASS' })
        },
      ),
      RUNS,
    )
  })

  it('5: what the variants cost is the sum of what their cells cost, to the micro-dollar', () => {
    const charge = fc.nat(5_000_000).map((micro) => micro / 1e6)
    fc.assert(
      fc.property(fc.array(charge, { minLength: 24, maxLength: 24 }), (charges) => {
        const plan = planOf({ scenarios: 6, seeds: 2 })
        let at = 0
        const records = recordsOf(plan, () => {
          const usd = charges[at++] ?? 0
          const tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, known: true }
          return { tokens, cost: { usd, provenance: 'observed', subjectUsd: usd, judgeUsd: 0 } }
        })
        for (const { id, cost } of buildReport(inputOf(plan, records)).variants) {
          const own = records.filter(({ variantId }) => variantId === id)
          const micro = own.reduce((sum, record) => sum + Math.round((record.cost.usd ?? 0) * 1e6), 0)
          // Reports say six significant digits.
          expect(cost.totalUsd).toBe(Number((micro / 1e6).toPrecision(6)))
        }
      }),
      RUNS,
    )
  })

  it('8: a report survives JSON, fits its schema, and every null of an estimate has a reason', () => {
    const isEstimate = (value: object): value is { est: unknown; lo: unknown; hi: unknown; refused?: unknown } =>
      'est' in value && 'level' in value
    const check = (value: unknown, path: string): void => {
      if (typeof value === 'number') expect(Number.isFinite(value), path).toBe(true)
      if (typeof value !== 'object' || value === null) return
      if (isEstimate(value) && (value.est === null || value.lo === null || value.hi === null)) {
        expect(value.refused, path).toBeDefined()
      }
      for (const [key, member] of Object.entries(value)) check(member, `${path}.${key}`)
    }
    fc.assert(
      fc.property(campaigns, (campaign) => {
        const report = build(campaign)
        expect(JSON.parse(JSON.stringify(report))).toEqual(report)
        expect(CampaignReportSchema.parse(report)).toEqual(report)
        check(report, 'report')
      }),
      RUNS,
    )
  })

  it('bounds of levels and differences lie on the scale, estimates between them', () => {
    fc.assert(
      fc.property(campaigns, (campaign) => {
        const { variants, candidates } = build(campaign)
        const between = (
          one: { est: number | null; lo: number | null; hi: number | null } | null,
          least: number,
        ): void => {
          if (one === null) return
          for (const bound of [one.lo, one.hi]) {
            if (bound === null) continue
            expect(bound).toBeGreaterThanOrEqual(least)
            expect(bound).toBeLessThanOrEqual(1)
          }
          if (one.est !== null && one.lo !== null) expect(one.lo).toBeLessThanOrEqual(one.est + 1e-6)
          if (one.est !== null && one.hi !== null) expect(one.hi).toBeGreaterThanOrEqual(one.est - 1e-6)
        }
        for (const { mean, passRate, reliability } of variants) {
          for (const one of [mean, passRate, reliability.passAtK, reliability.passHatK]) between(one, 0)
        }
        for (const { difference, completeCase, atLeast } of candidates) {
          between(difference, -1)
          between(completeCase, -1)
          between(atLeast?.mean ?? null, 0)
        }
      }),
      RUNS,
    )
  })

  it('records that are not of the plan, or come twice, always make a campaign invalid', () => {
    type Spoil = (records: RunRecord[], plan: ReturnType<typeof planOf>, at: number) => RunRecord[]
    const spoils: readonly Spoil[] = [
      (records, _, at) => [...records, records[at % records.length] as RunRecord],
      (records, plan) => [...records, recordOf(plan, { variant: 'nobody', scenario: 's01', seed: 0 })],
      (records, plan) => [...records, recordOf(plan, { variant: 'current', scenario: 's01', seed: 99 })],
      (records, _, at) =>
        records.map((record, i) => (i === at % records.length ? { ...record, campaignId: 'other' } : record)),
      (records, _, at) =>
        records.map((record, i) =>
          i === at % records.length ? { ...record, status: 'scored' as const, score: Number.NaN } : record,
        ),
      (records, _, at) =>
        records.map((record, i) =>
          i === at % records.length ? { ...record, status: 'scored' as const, score: 7 } : record,
        ),
    ]
    fc.assert(
      fc.property(campaigns, fc.constantFrom(...spoils), fc.nat(), (campaign, spoil, at) => {
        const { plan, records } = parts(campaign)
        fc.pre(records.length > 0 && plan.gate !== null)
        const report = buildReport(inputOf(plan, spoil(records, plan, at)))
        expect(report.verdict).toMatchObject({ red: true, outcome: 'invalid', exitCode: 2 })
        expect(report.candidates.every(({ outcome }) => outcome === 'invalid')).toBe(true)
      }),
      RUNS,
    )
  })
})
