import { describe, expect, it } from 'vitest'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { normalQuantile } from '../../../src/core/stats/normal.ts'
import { pairedTMde } from '../../../src/core/stats/power.ts'
import { signFlip } from '../../../src/core/stats/sign-flip.ts'
import { signFlipMde } from '../../../src/core/stats/sign-flip-power.ts'
import { uniforms } from './uniforms.ts'

const target = { power: 0.8, alpha: 0.05 }

describe('the effect that a few units show', () => {
  it('with six units is the one that gives all of them one sign: Φ(effect)^6 = .8', () => {
    // The t interval adds a little: six of one sign need not exclude 0.
    const sameSign = normalQuantile(0.8 ** (1 / 6))
    expect(signFlipMde(6, target)).toBeGreaterThan(sameSign - 0.02)
    expect(signFlipMde(6, target)).toBeLessThan(sameSign + 0.06)
  })

  it.each([6, 7, 8, 9])('with %d units is larger than for t alone, and both tests show it 4 times in 5', (units) => {
    const effect = signFlipMde(units, target) ?? Number.NaN
    expect(effect).toBeGreaterThan(pairedTMde(units, target))
    const random = uniforms(units)
    const campaigns = 1_500
    let shown = 0
    for (let campaign = 0; campaign < campaigns; campaign++) {
      const values = Float64Array.from({ length: units }, () => effect + normalQuantile(random() + 2 ** -40))
      const { raw } = signFlip({ units, contrasts: 1, values }, { key: [0, 0], stream: 0 })
      if ((raw[0] ?? 1) <= target.alpha && (meanInterval(values, 0.95).lo ?? 0) > 0) shown++
    }
    expect(Math.abs(shown / campaigns - target.power)).toBeLessThan(0.035)
  })

  it('is none where even one sign in all units is not rare enough', () => {
    expect(signFlipMde(6, { power: 0.8, alpha: 0.05 / 2 })).toBeNull()
    expect(signFlipMde(9, { power: 0.8, alpha: 0.05 / 7 })).not.toBeNull()
  })

  it('refuses more units than it enumerates', () => {
    expect(() => signFlipMde(13, target)).toThrow(RangeError)
    expect(() => signFlipMde(1, target)).toThrow(RangeError)
  })
})
