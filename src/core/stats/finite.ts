/**
 * A NaN that entered would leave as a number's ghost: missing values are the caller's to bound or to drop, by name.
 *
 * @throws RangeError naming the first value that is not a finite number
 */
export function requireFinite(values: ArrayLike<number>, what: string): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) throw new RangeError(`${what} ${i} is ${values[i]}, not a finite number`)
  }
}
