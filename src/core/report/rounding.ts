/**
 * A copy as JSON would give it back: numbers to 6 significant digits (whole numbers stay whole, −0 becomes 0), keys
 * without a value left out, half a surrogate pair (an error's message may end in one) replaced by U+FFFD.
 *
 * @throws RangeError naming the path of a number that JSON cannot say: an unknown is null beside a reason
 */
export function rounded<T>(value: T, path = 'report'): T {
  // The shape is kept: numbers stay numbers, only absent optional keys disappear.
  return round(value, path) as T
}

function round(value: unknown, path: string): unknown {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${path} is ${value}, which no report may say`)
    if (Number.isInteger(value)) return value === 0 ? 0 : value
    return Number(value.toPrecision(6))
  }
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, i) => round(item, `${path}[${i}]`))
  const result: { [key: string]: unknown } = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) result[key] = round(member, `${path}.${key}`)
  }
  return result
}
