/**
 * Cohen's (1988) h = 2 asin √p₂ − 2 asin √p₁: the difference of two rates on the scale where its variance does not depend
 * on the rates. Reference case: `cohenH`.
 *
 * @throws RangeError for a rate outside [0, 1]
 */
export function cohenH(base: number, changed: number): number {
  for (const rate of [base, changed]) {
    if (!(rate >= 0 && rate <= 1)) throw new RangeError(`a rate lies in [0, 1], not ${rate}`)
  }
  return 2 * Math.asin(Math.sqrt(changed)) - 2 * Math.asin(Math.sqrt(base))
}
