import type { Estimate } from '../../core/report/report.ts'
import { interval, unknown } from '../numbers.ts'

/** A number with its interval, and why either is missing. */
export function estimated(estimate: Estimate, write: (value: number) => string): string {
  const known = interval(estimate, write)
  if (estimate.est === null) return known === null ? unknown(estimate.refused) : `${unknown(estimate.refused)} ${known}`
  const range = known ?? `interval ${unknown(estimate.refused)}`
  return `${write(estimate.est)} ${range}${estimate.descriptive ? ', descriptive' : ''}`
}

/** Why there is no number: short where none is asked for. */
export function refusal(refused: Estimate['refused']): string {
  return refused === 'not_applicable' ? 'n/a' : unknown(refused)
}
