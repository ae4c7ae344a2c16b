import { uniforms } from './random.mjs'
import { Tally } from './tally.mjs'

/**
 * Plays one row: `draw(random)` gives the scores of a campaign, the report builder its verdict.
 *
 * @param row names the row: with the seed it says everything that is random about it
 * @param n campaigns in a full run
 * @param truth true difference of every candidate, for coverage; null where there is no single one
 */
export function play({ seed, scale, progress }, { row, n, campaign, draw, truth = null }) {
  const tally = new Tally()
  const campaigns = Math.max(2, Math.round(n * scale))
  for (let number = 0; number < campaigns; number++) {
    tally.add(campaign.report(draw(uniforms(seed, row, number)), number), truth)
  }
  progress(campaigns)
  return tally
}
