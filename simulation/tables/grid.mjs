import { campaignOf } from '../campaign.mjs'
import { armScores, LAWS } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { shown, Tally } from '../tally.mjs'

export const SCENARIOS = [6, 10, 20, 50, 100]
export const ICCS = [0, 0.3, 0.6]
export const SEEDS = 3
export const ALPHA = 0.025

/**
 * One campaign after another of two arms over scenarios × icc × law, as a table with a row per scenarios and icc. Bounds
 * are checked where there are campaigns enough to say something: over all laws of a row, over all icc of a law.
 *
 * @param n campaigns of one cell
 * @param gateOf the gate for a law
 * @param draw scores of both arms: (law, design, random) → scores
 * @param truthOf the true difference
 * @param counted which outcomes are errors, of 'regress' and 'ship'; a table for each
 */
export function errorGrid(context, { name, n, gateOf, draw, truthOf, counted }) {
  const cells = []
  for (const scenarios of SCENARIOS) {
    for (const law of LAWS) {
      const campaign = campaignOf({ scenarios, seeds: SEEDS, gate: { alpha: context.alpha, ...gateOf(law) } })
      for (const icc of ICCS) {
        const design = { scenarios, seeds: SEEDS, icc }
        const row = `${name}, S=${scenarios}, icc=${icc}, ${law.name}`
        const tally = play(context, {
          row,
          n,
          campaign,
          draw: (random) => draw(law, design, random),
          truth: truthOf(law),
        })
        cells.push({ scenarios, icc, law, tally })
      }
    }
  }
  const { bounds } = context
  const total = (keep) => Tally.sum(cells.filter(keep).map(({ tally }) => tally))
  return counted.map((outcome) => {
    const rows = SCENARIOS.flatMap((scenarios) => [
      ...ICCS.map((icc) => {
        const all = total((cell) => cell.scenarios === scenarios && cell.icc === icc)
        const what = `${name}, S=${scenarios}, icc=${icc}`
        const ofLaw = (law) => cells.find((c) => c.scenarios === scenarios && c.icc === icc && c.law === law).tally
        return [
          `${scenarios}, ${icc}`,
          ...LAWS.map((law) => shown(ofLaw(law)[outcome], ofLaw(law).campaigns)),
          bounds.atMost(`${what}, ${outcome}`, all[outcome], all.campaigns, ALPHA),
          bounds.atLeast(`${what}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
        ]
      }),
      [
        `${scenarios}, all`,
        ...LAWS.map((law) => {
          const all = total((cell) => cell.scenarios === scenarios && cell.law === law)
          return bounds.atMost(`${name}, S=${scenarios}, ${law.name}, ${outcome}`, all[outcome], all.campaigns, ALPHA)
        }),
        '',
        '',
      ],
    ])
    return table(['scenarios, ICC', ...LAWS.map((law) => law.name), 'all laws', 'interval covers'], rows)
  })
}

export const twoArms = (law, candidate, design, random) => [
  armScores(law, design, random),
  armScores(candidate, design, random),
]
