import { z } from 'zod'
import { type MicroUsd, toMicroUsd } from '../record/usage.ts'

/** What a run, or a campaign of it, may spend. */
export interface BudgetOptions {
  /** US dollars, ≥ 0; at 0 nothing is bought and recordings alone are served. */
  readonly usd: number
}

/** More micro-USD than an integer holds exactly. */
const MOST_USD = 9_000_000_000
const MUST = 'must be a number of US dollars, 0 or more'

export const isBudget = (usd: unknown): usd is number => typeof usd === 'number' && usd >= 0 && usd <= MOST_USD

export const BudgetOptions: z.ZodType<BudgetOptions> = z.strictObject({
  usd: z.custom<number>(isBudget, { error: ({ input }) => `${MUST}, not ${JSON.stringify(input) ?? String(input)}` }),
})

/**
 * The budget of a run: the smaller one where both the options and the environment set one.
 *
 * @param env value of EVALS_BUDGET_USD, if set
 * @returns null: none
 * @throws TypeError when the variable is no amount: a budget that cannot be read is not no budget
 */
export function runBudget(options: BudgetOptions | undefined, env: string | undefined): MicroUsd | null {
  const limits = options === undefined ? [] : [options.usd]
  if (env !== undefined && env.trim() !== '') {
    const usd = /^\d+(\.\d+)?$/.test(env.trim()) ? Number(env) : Number.NaN
    if (!isBudget(usd)) throw new TypeError(`EVALS_BUDGET_USD=${JSON.stringify(env)} ${MUST}, for instance 2.50`)
    limits.push(usd)
  }
  return limits.length === 0 ? null : toMicroUsd(Math.min(...limits))
}
