import { detectableEffect } from '../../dist/core/report/detectable.js'
import { pairedTPower, requiredScenarios } from '../../dist/core/stats/power.js'
import { campaignOf } from '../campaign.mjs'
import { armScores, differenceVariance, triangle } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { ALPHA, SCENARIOS, SEEDS } from './grid.mjs'

const POWER = 0.8
const POINTS = 3

/** The effect that a design should show four times in five, simulated. */
export function plannedPower(context) {
  const { bounds } = context
  const law = triangle()
  const row = (what, { scenarios, seeds, icc, effect }, gate, direction, n = 1200, planned = POWER) => {
    const campaign = campaignOf({ scenarios, seeds, gate: { alpha: context.alpha, ...gate } })
    const design = { scenarios, seeds, icc }
    const lowered = law.lowered(effect)
    const arms = direction === 'loss' ? [law, lowered] : [lowered, law]
    const all = play(context, {
      row: what,
      n,
      campaign,
      draw: (random) => arms.map((arm) => armScores(arm, design, random)),
      truth: direction === 'loss' ? -effect : effect,
    })
    const seen = direction === 'loss' ? all.regress : all.ship
    return [
      what,
      String(all.campaigns),
      effect.toFixed(3),
      (planned * 100).toFixed(1),
      bounds.near(what, seen, all.campaigns, planned, POINTS),
      bounds.atLeast(`${what}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
    ]
  }
  const target = { power: POWER, alpha: 2 * ALPHA }
  const icc = 0.3
  const variance = differenceVariance(law, law, { seeds: SEEDS, icc })
  const rows = SCENARIOS.map((scenarios) => {
    const effect = detectableEffect(scenarios, target) * Math.sqrt(variance)
    return row(`loss, pr gate, ${scenarios}`, { scenarios, seeds: SEEDS, icc, effect }, {}, 'loss')
  })
  for (const scenarios of [20, 50]) {
    const effect = detectableEffect(scenarios, target) * Math.sqrt(variance)
    const gate = { kind: 'release', onInconclusive: 'fail', target: effect }
    rows.push(row(`gain, release gate, ${scenarios}`, { scenarios, seeds: SEEDS, icc, effect }, gate, 'gain'))
  }
  for (const [seeds, delta] of [
    [1, 0.06],
    [5, 0.06],
  ]) {
    const components = { tau2: 2 * law.variance * icc, sigma2: 2 * law.variance * (1 - icc) }
    const scenarios = requiredScenarios({ delta, seeds, ...components }, target)
    const what = `planned for a loss of ${delta} at ${seeds} seeds: ${scenarios}`
    // Whole scenarios: a little more power than asked for.
    const sd = Math.sqrt(differenceVariance(law, law, { seeds, icc }))
    const planned = pairedTPower(scenarios, delta / sd, target.alpha)
    rows.push(row(what, { scenarios, seeds, icc, effect: delta }, {}, 'loss', 2400, planned))
  }
  return `## Planned power\n\nThe effect that the design should show with 80 % power (\`detectableDrop\`), and designs of the size that\n\`requiredScenarios\` asks for; triangular scores, ICC .3. Must be within ${POINTS} points.\n\n${table(
    ['effect, gate, scenarios', 'campaigns', 'true effect', 'planned', 'shown', 'interval covers'],
    rows,
  )}`
}
