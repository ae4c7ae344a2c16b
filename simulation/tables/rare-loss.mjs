import { campaignOf } from '../campaign.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { shown } from '../tally.mjs'
import { ALPHA } from './grid.mjs'

const LOSS = 0.02

/**
 * Two in a hundred scenarios lose everything, the others gain a little: the true difference is 0. No interval made from
 * a sample without a loss can know of it; the bound for any distribution must.
 */
export function rareLosses(context) {
  const rows = [20, 50, 100, 200].flatMap((scenarios) =>
    ['standard', 'bounded'].map((assurance) => {
      const campaign = campaignOf({
        scenarios,
        seeds: 1,
        gate: { kind: 'release', onInconclusive: 'fail', target: 0.1, alpha: context.alpha, assurance },
      })
      const what = `rare losses, ${assurance}, S=${scenarios}`
      const all = play(context, {
        row: `rare losses, S=${scenarios}`,
        n: 200,
        campaign,
        draw: (random) => {
          const candidate = Array.from({ length: scenarios }, () => [random() < LOSS ? 0 : 1])
          return [candidate.map(() => [1 - LOSS]), candidate]
        },
        truth: 0,
      })
      return [
        `${scenarios}, ${assurance}`,
        String(all.campaigns),
        assurance === 'bounded'
          ? context.bounds.atMost(what, all.ship, all.campaigns, ALPHA)
          : shown(all.ship, all.campaigns),
        all.intervals === 0 ? '–' : shown(all.covering, all.intervals),
      ]
    }),
  )
  return `## Rare large losses\n\n2 % of scenarios lose .98, the others gain .02; the true difference is 0. Percent shipped as a gain. Under\n\`assurance: 'standard'\` this is known and not bounded: a loss that is not in the sample is in no interval made from it.\n\n${table(
    ['scenarios, assurance', 'campaigns', 'ship', 'interval covers'],
    rows,
  )}`
}
