/** How a sentence says scores: percent and percentage points where the scale is [0, 1], else plain numbers. */
export interface ScoreWords {
  value(score: number): string
  /** Signed, with its unit. */
  difference(delta: number): string
  /** Without a sign, with its unit. */
  size(delta: number): string
  /** Signed, without a unit. */
  bare(delta: number): string
}

function digits(value: number, decimals: number): string {
  return value.toFixed(decimals)
}

function plain(value: number): string {
  return String(Number(value.toPrecision(3)))
}

function signed(text: string): string {
  if (!/[1-9]/.test(text)) return text.replace('-', '')
  return text.startsWith('-') ? `−${text.slice(1)}` : `+${text}`
}

export function scoreWords(scale: readonly [number, number]): ScoreWords {
  if (scale[0] !== 0 || scale[1] !== 1) {
    return {
      value: plain,
      difference: (delta) => signed(plain(delta)),
      size: (delta) => plain(Math.abs(delta)),
      bare: (delta) => signed(plain(delta)),
    }
  }
  return {
    value: (score) => `${digits(score * 100, 1)} %`,
    difference: (delta) => `${signed(digits(delta * 100, 1))} pp`,
    size: (delta) => `${plain(Math.abs(delta) * 100)} pp`,
    bare: (delta) => signed(digits(delta * 100, 1)),
  }
}

/** A detectable drop, rounded up: a promise must not be rounded into more than it is. */
export function roundedUp(drop: number, scale: readonly [number, number]): number {
  const step = (scale[1] - scale[0]) / 100
  return Math.ceil(drop / step - 1e-9) * step
}

export function percent(share: number): string {
  return `${plain(share * 100)} %`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
