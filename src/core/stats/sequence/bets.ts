/** Largest share of the capital that one bet may lose. */
export const TRUNCATION = 0.5

/**
 * Predictable bets λ_t = √(2 ln(1/α) / (σ̂²_{t−1} t ln(1+t))) and means μ̂_{t−1}, each from the values before t only:
 * μ̂_t = (½ + Σ x)/(t+1), σ̂²_t = (¼ + Σ (x_i − μ̂_i)²)/(t+1). Waudby-Smith & Ramdas 2024, (15).
 *
 * @param alpha error rate of one side
 * @throws RangeError for values outside [0, 1] or an alpha outside (0, 1)
 */
export function predictableBets(
  values: readonly number[],
  alpha: number,
): readonly { readonly bet: number; readonly meanBefore: number }[] {
  if (!(alpha > 0 && alpha < 1)) throw new RangeError(`an error rate lies in (0, 1), not ${alpha}`)
  let sum = 0.5
  let squares = 0.25
  return values.map((value, i) => {
    if (!(value >= 0 && value <= 1)) throw new RangeError(`value ${i} is ${value}, outside [0, 1]`)
    const t = i + 1
    // σ̂²_{t−1} = squares / t, which cancels the t of the denominator.
    const bet = Math.sqrt((2 * Math.log(1 / alpha)) / (squares * Math.log(1 + t)))
    const meanBefore = sum / t
    sum += value
    squares += (value - sum / (t + 1)) ** 2
    return { bet, meanBefore }
  })
}
