import type { Estimate, RefusalCode } from '../core/report/report.ts'

/** Typography of one rendering: a terminal keeps to what can be typed, a document need not. */
export interface Typography {
  readonly minus: string
  readonly atLeast: string
}
export const TYPED: Typography = { minus: '-', atLeast: '>=' }
export const PRINTED: Typography = { minus: '−', atLeast: '≥' }

/** Why a number is missing, as it stands in `unknown (…)`. */
export const REFUSAL_WORDS: { readonly [code in RefusalCode]: string } = {
  no_data: 'no data',
  one_scenario: 'one scenario',
  too_few_scenarios: 'too few scenarios',
  zero_spread: 'all differences equal',
  zero_variance_unidentified: 'spread not measurable',
  missing_cells: 'missing cells',
  no_successes: 'nothing passed',
  uncaptured: 'price not captured',
  replayed: 'replayed',
  not_applicable: 'not applicable',
  k_exceeds_n: 'more draws than seeds',
  beyond_limit: 'beyond the time limit',
  no_pairs: 'nothing rated twice',
  no_variation: 'all ratings equal',
  too_few_labels: 'too few labels',
  weak_judge: 'the judge hardly tells pass from fail',
  cut_off: 'the run was cut off before it wrote it down',
  merged: 'each of the merged runs has its own',
}

export function unknown(refused: RefusalCode | undefined): string {
  return `unknown (${refused === undefined ? 'no reason given' : REFUSAL_WORDS[refused]})`
}

/** How scores and their differences are written: in points of percent where the scale is [0, 1]. */
export interface Scale {
  readonly unit: 'pp' | 'score'
  value(score: number): string
  /** Signed, without the unit. */
  difference(delta: number): string
}

export function scaleOf(scale: readonly [number, number] | null, type: Typography): Scale {
  const unit = scale !== null && scale[0] === 0 && scale[1] === 1 ? 'pp' : 'score'
  return {
    unit,
    value: (score) => (unit === 'pp' ? withMinus(score.toFixed(3), type) : digits(score, type)),
    difference: (delta) => signed(unit === 'pp' ? points(delta * 100) : digits(delta, TYPED), type),
  }
}

/** Three significant digits, no exponent where a reader can do without. */
export function digits(value: number, type: Typography): string {
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e9 || size < 1e-6)) return withMinus(value.toExponential(2), type)
  const decimals = size === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(size)))
  const text = Number(value.toPrecision(3)).toFixed(Math.min(decimals, 8))
  return withMinus(grouped(text), type)
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

export function dollars(usd: number): string {
  if (usd === 0) return '$0'
  return usd >= 1_000 ? `$${grouped(usd.toFixed(0))}` : `$${digits(usd, TYPED)}`
}

export function duration(ms: number): string {
  if (ms < 999.5) return `${ms < 99.5 ? digits(ms, TYPED) : ms.toFixed(0)} ms`
  if (ms < 119_500) return `${digits(ms / 1_000, TYPED)} s`
  if (ms < 7_200_000) return `${digits(ms / 60_000, TYPED)} min`
  return `${digits(ms / 3_600_000, TYPED)} h`
}

export function tokens(count: number): string {
  if (count < 1_000) return count.toFixed(0)
  if (count < 999_500) return `${digits(count / 1_000, TYPED)}k`
  return `${digits(count / 1_000_000, TYPED)}M`
}

/** Tokens in and out; a lower bound where some call did not report its usage. */
export function tokenPair(
  used: { readonly input: number | null; readonly output: number | null; readonly known: boolean },
  type: Typography,
): string | null {
  if (used.input === null && used.output === null) return null
  const side = (count: number | null): string => (count === null ? '?' : tokens(count))
  return `${used.known ? '' : `${type.atLeast} `}${side(used.input)}/${side(used.output)}`
}

export function pValue(p: number): string {
  return p < 0.0001 ? '< 0.0001' : p.toPrecision(2)
}

/** `[lo, hi]`, null where the interval is refused. */
export function interval(estimate: Estimate, write: (value: number) => string): string | null {
  return estimate.lo === null || estimate.hi === null ? null : `[${write(estimate.lo)}, ${write(estimate.hi)}]`
}

/** 1234 as 1,234. */
export function grouped(text: string): string {
  return text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','))
}

export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${grouped(String(count))} ${count === 1 ? one : many}`
}

function points(value: number): string {
  const size = Math.abs(value)
  return size >= 0.1 || size === 0
    ? value.toFixed(1)
    : value.toPrecision(1).includes('e')
      ? value.toExponential(0)
      : value.toPrecision(1)
}

function signed(text: string, type: Typography): string {
  return withMinus(/[1-9]/.test(text) && !text.startsWith('-') ? `+${text}` : text, type)
}

function withMinus(text: string, type: Typography): string {
  // A rounded -0.0 is nothing with a sign.
  if (text.startsWith('-') && !/[1-9]/.test(text)) return text.slice(1)
  return text.replace(/-/g, type.minus)
}
