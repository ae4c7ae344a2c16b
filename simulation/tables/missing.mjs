import { campaignOf } from '../campaign.mjs'
import { armScores, LAWS } from '../laws.mjs'
import { play } from '../play.mjs'
import { table } from '../table.mjs'
import { shown, Tally } from '../tally.mjs'
import { ALPHA, ICCS, SCENARIOS, SEEDS } from './grid.mjs'

/** Cells of both arms, each with the same chance. */
const atRandom = (share) => (arms, random) =>
  arms.map((arm) => arm.map((row) => row.map((score) => (random() < share ? null : score))))

/** One arm loses the given share of its cells where it did worst: what is left flatters it. */
const onHard = (share) => (arms, _random, flattered) =>
  arms.map((arm, v) => {
    if (v !== flattered) return arm
    const sums = arm.map((row) => row.reduce((sum, score) => sum + score, 0))
    const order = [...arm.keys()].sort((a, b) => sums[a] - sums[b] || a - b)
    let left = Math.round(share * arm.length * arm[0].length)
    const scores = arm.map((row) => [...row])
    for (const scenario of order) {
      for (let seed = 0; seed < scores[scenario].length && left > 0; seed++, left--) scores[scenario][seed] = null
    }
    return scores
  })

const PATTERNS = [
  ['5 % at random', atRandom(0.05)],
  ['20 % at random', atRandom(0.2)],
  ['5 % on the hardest', onHard(0.05)],
  ['20 % on the hardest', onHard(0.2)],
]

/** Lost cells of the arm that the error would flatter: the comparator under a pr gate, the candidate before a release. */
const GATES = [
  { name: 'identical arms, pr gate', counted: 'regress', flattered: 0, gate: () => ({}), down: () => 0 },
  {
    name: 'worse by the margin, release gate',
    counted: 'ship',
    flattered: 1,
    gate: (law) => ({ kind: 'release', onInconclusive: 'fail', margin: law.down }),
    down: (law) => law.down,
  },
]

export function missingCells(context) {
  const { bounds } = context
  const rows = GATES.flatMap(({ name, counted, flattered, gate, down }) =>
    PATTERNS.flatMap(([pattern, lose]) =>
      SCENARIOS.map((scenarios) => {
        const tallies = LAWS.flatMap((law) => {
          const campaign = campaignOf({ scenarios, seeds: SEEDS, gate: { alpha: context.alpha, ...gate(law) } })
          const lowered = down(law) === 0 ? law : law.lowered(down(law))
          return ICCS.map((icc) => {
            const design = { scenarios, seeds: SEEDS, icc }
            return play(context, {
              row: `${name}, ${pattern}, S=${scenarios}, icc=${icc}, ${law.name}`,
              n: 8,
              campaign,
              draw: (random) =>
                lose([armScores(law, design, random), armScores(lowered, design, random)], random, flattered),
              truth: -down(law),
            })
          })
        })
        const all = Tally.sum(tallies)
        const what = `${name}, ${pattern}, S=${scenarios}`
        return [
          `${name}, ${pattern}, ${scenarios}`,
          String(all.campaigns),
          bounds.atMost(what, all[counted], all.campaigns, ALPHA),
          shown(all.red, all.campaigns),
          bounds.atLeast(`${what}, coverage`, all.covering, all.intervals, 1 - 2 * ALPHA),
        ]
      }),
    ),
  )
  return `## Missing cells\n\nOver all laws and ICC. "On the hardest": the arm that the error would flatter loses the cells where it scored\nlowest. \`error\` is \`regress\` under the pr gate and \`ship\` under the release gate; nominal 2.5. \`exit 1\`: a\nloss is shown, which under the release gate is a true one.\n\n${table(
    ['gate, missing, scenarios', 'campaigns', 'error', 'exit 1', 'interval covers'],
    rows,
  )}`
}
