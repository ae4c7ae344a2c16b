import { campaignOf } from '../campaign.mjs'
import { armScores, LAWS } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { Tally } from '../tally.mjs'
import { ALPHA, ICCS, SCENARIOS, SEEDS } from './grid.mjs'

/** A variant whose true mean is exactly the threshold: neither above nor below may be said. */
export function atTheThreshold(context) {
  const { bounds } = context
  const rows = SCENARIOS.flatMap((scenarios) =>
    LAWS.map((law) => {
      const campaign = campaignOf({
        variants: 1,
        scenarios,
        seeds: SEEDS,
        gate: { alpha: context.alpha, atLeast: law.mean },
      })
      const all = Tally.sum(
        ICCS.map((icc) => {
          const design = { scenarios, seeds: SEEDS, icc }
          return play(context, {
            row: `at the threshold, S=${scenarios}, icc=${icc}, ${law.name}`,
            n: 120,
            campaign,
            draw: (random) => [armScores(law, design, random)],
            truth: law.mean,
          })
        }),
      )
      const what = `at the threshold, S=${scenarios}, ${law.name}`
      return [
        `${scenarios}, ${law.name}`,
        String(all.campaigns),
        bounds.atMost(`${what}, below`, all.regress, all.campaigns, ALPHA),
        bounds.atMost(`${what}, above`, all.ship, all.campaigns, ALPHA),
        bounds.atLeast(`${what}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
      ]
    }),
  )
  return `## \`atLeast\`: a variant whose true mean is the threshold\n\nPercent of campaigns called below (\`regress\`) or above (\`ship\`); nominal 2.5 each.\n\n${table(
    ['scenarios, law', 'campaigns', 'below', 'above', 'interval covers'],
    rows,
  )}`
}
