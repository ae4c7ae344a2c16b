import { expect, test } from 'vitest'
import { plannedPower } from '../../../src/core/report/planned-power.ts'
import { planOf, reportOf } from './records.ts'

test('without an earlier run the spread is assumed, and said to be', () => {
  // Reference case `mde`: .66044 standard deviations at n = 20; half of it, rounded up to a whole point.
  expect(plannedPower(planOf({ scenarios: 20 }), null)).toEqual({
    drop: expect.closeTo(0.34, 10),
    scale: [0, 1],
    units: 20,
    unit: 'scenario',
    spread: 0.5,
    spreadFrom: 'assumed',
  })
  expect(plannedPower(planOf({ scenarios: 20, scale: [0, 10] }), null)).toMatchObject({
    drop: expect.closeTo(3.4, 10),
    spread: 5,
  })
  const drop = (gate: object, variants = ['current', 'a']) =>
    plannedPower(planOf({ scenarios: 20, gate, variants }), null).drop ?? Number.NaN
  expect(drop({ looks: 3 }), 'more looks show less each').toBeGreaterThan(drop({}))
  expect(drop({}, ['current', 'a', 'b', 'c']), 'so do more candidates').toBeGreaterThan(drop({}))
})

test('families and the holdout are the units, as they are of the verdict', () => {
  const scenarios = Array.from({ length: 40 }, (_, i) => ({
    id: `s${i}`,
    family: `f${i % 12}`,
    split: i < 20 ? ('holdout' as const) : ('dev' as const),
  }))
  expect(plannedPower(planOf({ scenarios }), null)).toMatchObject({ units: 12, unit: 'family' })
  expect(plannedPower(planOf({ scenarios: scenarios.map((one) => ({ ...one, family: null })) }), null)).toMatchObject({
    units: 20,
    unit: 'scenario',
  })
})

test('an earlier run says how far differences spread, at the seeds of this one', () => {
  const plan = planOf({ scenarios: 20, seeds: 2 })
  // Every other scenario: the candidate fails one seed of two, or none.
  const report = reportOf({ scenarios: 20, seeds: 2 }, ({ variant, seed, scenario }) =>
    variant === 'concise' && seed === 0 && Number(scenario.slice(1)) % 2 === 0 ? 0 : 1,
  )
  const { tau2, sigma2 } = report.candidates[0]?.variance ?? {}
  if (tau2 == null || sigma2 == null) throw new Error('the fixture has no variance components')
  const spread = Math.sqrt(tau2 + sigma2 / 2)
  const same = plannedPower(plan, report)
  expect(same).toMatchObject({ spread: expect.closeTo(spread, 6), spreadFrom: 'earlier-run' })
  const more = plannedPower(planOf({ scenarios: 20, seeds: 8 }), report)
  expect(more).toMatchObject({ spread: expect.closeTo(Math.sqrt(tau2 + sigma2 / 8), 6) })
  expect(more.drop, 'seeds buy something here').toBeLessThan(same.drop ?? 0)
  const other = plannedPower(planOf({ scenarios: 20, variants: ['current', 'new'] }), report)
  expect(other, 'another candidate has no spread yet').toMatchObject({ spreadFrom: 'assumed' })
  const equal = reportOf({ scenarios: 20, seeds: 2 }, () => 1)
  expect(plannedPower(plan, equal), 'no spread at all says nothing').toMatchObject({ spreadFrom: 'assumed' })
})

test.each([
  [planOf({ gate: null }), 'it declares no gate'],
  [planOf({ gate: { comparator: null, atLeast: 0.9 } }), 'its gate compares with a threshold, not with another arm'],
  [planOf({ scale: null }), 'the primary scorer label has no bounded scale'],
  [planOf({ scenarios: 5 }), 'no drop of any size is shown by 5 scenarios: 6 are the fewest'],
  [planOf({ scenarios: 6 }), 'expected to be a number'],
])('where no drop can be shown it says why (%#)', (plan, why) => {
  const power = plannedPower(plan, null)
  if (why === 'expected to be a number') expect(power.drop).toBeLessThanOrEqual(1)
  else expect(power).toEqual({ drop: null, why })
})
