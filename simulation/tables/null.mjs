import { errorGrid, twoArms } from './grid.mjs'

/** Two arms that are the same: a word about harm is wrong, and so is one about a gain. */
export function identicalArms(context) {
  const [regress, ship] = errorGrid(context, {
    name: 'identical arms',
    n: 80,
    gateOf: () => ({}),
    draw: (law, design, random) => twoArms(law, law, design, random),
    truthOf: () => 0,
    counted: ['regress', 'ship'],
  })
  return `## Two identical arms

How often harm is shown (\`regress\`, what makes a \`pr\` gate red); nominal 2.5.

${regress}

How often a gain is shown (\`ship\` by superiority, in either gate) in the same campaigns; nominal 2.5.

${ship}`
}

/** The candidate is worse by exactly the margin. */
export function atTheMargin(context) {
  const [ship] = errorGrid(context, {
    name: 'worse by the margin, release gate',
    n: 160,
    gateOf: (law) => ({ kind: 'release', onInconclusive: 'fail', margin: law.down }),
    draw: (law, design, random) => twoArms(law, law.lowered(law.down), design, random),
    truthOf: (law) => -law.down,
    counted: ['ship'],
  })
  return `## A candidate worse by exactly the margin

How often a \`release\` gate ships it; nominal 2.5. The margin is .05 for pass/fail of .1 and the exponential law, else .1.

${ship}`
}
