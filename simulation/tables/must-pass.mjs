import { campaignOf } from '../campaign.mjs'
import { armScores, half } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { shown } from '../tally.mjs'
import { ALPHA, SCENARIOS, SEEDS } from './grid.mjs'

const CASES = [
  { name: 'holds', of: () => [1, 1] },
  { name: 'broken in one seed', of: (seed) => [1, seed === 0 ? 0 : 1] },
  { name: 'the comparator fails too', of: () => [0, 0] },
  { name: 'lost in the candidate', of: () => [1, null] },
]

/** Must-pass scenarios are decided by what happened, not by statistics. */
export function mustPass(context) {
  const { bounds } = context
  const rows = SCENARIOS.flatMap((scenarios) =>
    CASES.map(({ name, of }) => {
      const campaign = campaignOf({ scenarios, seeds: SEEDS, gate: { alpha: context.alpha }, mustPass: 1 })
      const what = `must-pass scenario ${name}, S=${scenarios}`
      const design = { scenarios: scenarios - 1, seeds: SEEDS, icc: 0.3 }
      const all = play(context, {
        row: what,
        n: 50,
        campaign,
        draw: (random) =>
          [0, 1].map((arm) => [
            Array.from({ length: SEEDS }, (_, seed) => of(seed)[arm]),
            ...armScores(half, design, random),
          ]),
      })
      const red =
        name === 'broken in one seed'
          ? bounds.exactly(what, all.regress, all.campaigns)
          : bounds.atMost(what, all.regress, all.campaigns, ALPHA)
      return [`${scenarios}, ${name}`, String(all.campaigns), red, shown(all.red, all.campaigns)]
    }),
  )
  return `## A must-pass scenario among identical arms\n\n\`regress\`: percent of campaigns, nominal 2.5; where the scenario is broken, the number of campaigns, which must be all.\n\n${table(
    ['scenarios, the must-pass scenario', 'campaigns', 'regress', 'exit 1'],
    rows,
  )}`
}
