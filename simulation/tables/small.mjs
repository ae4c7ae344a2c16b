import { campaignOf } from '../campaign.mjs'
import { armScores, LAWS } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { ALPHA, SEEDS } from './grid.mjs'

const SCENARIOS = 10
const CAMPAIGNS = 240

/** One row of each kind of error: enough to notice a gate at a wrong level, and a few seconds long. */
export function small(context) {
  const { bounds } = context
  const law = LAWS[3]
  const design = { scenarios: SCENARIOS, seeds: SEEDS, icc: 0.3 }
  const arms =
    (...laws) =>
    (random) =>
      laws.map((one) => armScores(one, design, random))
  const release = { kind: 'release', onInconclusive: 'fail', margin: law.down }
  const rows = [
    { row: 'identical arms', gate: {}, draw: arms(law, law), truth: 0 },
    { row: 'worse by the margin', gate: release, draw: arms(law, law.lowered(law.down)), truth: -law.down },
    { row: 'at the threshold', gate: { atLeast: law.mean }, variants: 1, draw: arms(law), truth: law.mean },
  ].map(({ row, gate, variants, draw, truth }) => {
    const campaign = campaignOf({ variants, ...design, gate: { alpha: context.alpha, ...gate } })
    const all = play(context, { row: `small, ${row}`, n: CAMPAIGNS, campaign, draw, truth })
    return [
      row,
      String(all.campaigns),
      // A true loss may be shown.
      row === 'worse by the margin' ? '' : bounds.atMost(`${row}, regress`, all.regress, all.campaigns, ALPHA),
      bounds.atMost(`${row}, ship`, all.ship, all.campaigns, ALPHA),
      bounds.atLeast(`${row}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
    ]
  })
  return `## A small one\n\n${table(['truth', 'campaigns', 'regress', 'ship', 'interval covers'], rows)}`
}
