/**
 * Error rate of each of `looks` declared looks at the same data or holdout: α/J. The simple choice that is valid however
 * the looks depend on each other (Bonferroni); a look that was not declared is exploratory.
 *
 * @throws RangeError unless looks is a positive whole number and 0 < alpha < 1
 */
export function alphaPerLook(alpha: number, looks: number): number {
  if (!(alpha > 0 && alpha < 1 && Number.isInteger(looks) && looks >= 1)) {
    throw new RangeError(`no error rate per look: α ${alpha}, ${looks} looks`)
  }
  return alpha / looks
}
