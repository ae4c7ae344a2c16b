import { describe, expect, it } from 'vitest'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { signFlip } from '../../../src/core/stats/sign-flip.ts'
import { uniforms } from './uniforms.ts'

const ALPHA = 0.025
const CAMPAIGNS = 1_500

/** Differences of two arms that are the same, as scenario means of five pass/fail seeds. */
function nullDifferences(random: () => number, scenarios: number, shared: boolean): number[] {
  return Array.from({ length: scenarios }, () => {
    // Shared: each arm has its own rate in each scenario, so seeds inside a scenario agree with each other.
    const rates = [shared ? random() : 0.5, shared ? random() : 0.5]
    const [a = 0, b = 0] = rates.map((rate) => {
      let passes = 0
      for (let seed = 0; seed < 5; seed++) if (random() < rate) passes++
      return passes / 5
    })
    return a - b
  })
}

describe.each([10, 20, 50])('two identical arms over %d scenarios', (scenarios) => {
  it.each([false, true])('a gain is claimed no more often than declared (seeds dependent: %s)', (shared) => {
    const random = uniforms(scenarios * 2 + Number(shared))
    let byT = 0
    let byFlip = 0
    for (let campaign = 0; campaign < CAMPAIGNS; campaign++) {
      const differences = nullDifferences(random, scenarios, shared)
      const { lo, mean } = meanInterval(differences, 1 - 2 * ALPHA)
      if (lo !== null && lo > 0) byT++
      if (scenarios > 10) continue
      const flip = signFlip(
        { units: scenarios, contrasts: 1, values: Float64Array.from(differences) },
        { key: [0, 0], stream: 0 },
      )
      if ((flip.raw[0] ?? 1) <= 2 * ALPHA && mean !== null && mean > 0) byFlip++
    }
    const most = CAMPAIGNS * (ALPHA + 3 * Math.sqrt((ALPHA * (1 - ALPHA)) / CAMPAIGNS))
    expect(byT).toBeLessThanOrEqual(most)
    expect(byFlip).toBeLessThanOrEqual(most)
    expect(byT).toBeGreaterThan(0)
  })
})
