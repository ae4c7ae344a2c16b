import { campaignOf } from '../campaign.mjs'
import { armScores, LAWS } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { Tally } from '../tally.mjs'
import { ALPHA, ICCS, SCENARIOS, SEEDS } from './grid.mjs'

/** Several candidates that are all like the comparator: one wrong word about any of them is an error. */
export function severalCandidates(context) {
  const { bounds } = context
  const rows = [3, 7].flatMap((candidates) =>
    SCENARIOS.map((scenarios) => {
      const campaign = campaignOf({
        variants: candidates + 1,
        scenarios,
        seeds: SEEDS,
        gate: { alpha: context.alpha },
      })
      const tallies = LAWS.flatMap((law) =>
        ICCS.map((icc) => {
          const design = { scenarios, seeds: SEEDS, icc }
          return play(context, {
            row: `${candidates} identical candidates, S=${scenarios}, icc=${icc}, ${law.name}`,
            n: candidates === 3 ? 24 : 12,
            campaign,
            draw: (random) => Array.from({ length: candidates + 1 }, () => armScores(law, design, random)),
            truth: 0,
          })
        }),
      )
      const all = Tally.sum(tallies)
      const what = `${candidates} identical candidates, S=${scenarios}`
      return [
        `${candidates}, ${scenarios}`,
        String(all.campaigns),
        bounds.atMost(`${what}, regress`, all.regress, all.campaigns, ALPHA),
        bounds.atMost(`${what}, ship`, all.ship, all.campaigns, ALPHA),
        bounds.atLeast(`${what}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
      ]
    }),
  )
  return `## Several candidates, all like the comparator\n\nPercent of campaigns in which at least one candidate is wrongly called worse (\`regress\`) or better (\`ship\`); nominal 2.5\nfor the whole family. All intervals of a campaign must cover.\n\n${table(
    ['candidates, scenarios', 'campaigns', 'any regress', 'any ship', 'all intervals cover'],
    rows,
  )}`
}
