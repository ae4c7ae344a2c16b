import { nearest } from '../core/campaign/options.ts'
import { plainError } from './options.ts'

/** Every variable of the environment that a run reads, what it may be and what it does; docs/options.md shows this. */
export const EVALS_VARIABLES = {
  EVALS_MODE: {
    values: '`auto`, `live`, `record`, `replay`',
    does: 'how provider calls are answered; wins over `mode`',
  },
  EVALS_PLAN: { values: '`1`', does: 'says what a run would do and take, and runs nothing' },
  EVALS_BUDGET_USD: { values: 'US dollars', does: 'what a run may spend; `budget.usd` binds too, if it is smaller' },
  EVALS_SHARD: { values: '`index/count`', does: 'the part of the cells that is run, like `--shard`' },
  EVALS_RESUME: { values: '`0`', does: 'starts afresh where an unfinished run could be gone on with' },
  EVALS_RECONCILE: { values: '`1`', does: 'cells with side effects that were cut off run again' },
  EVALS_REPLAY: { values: 'run id, `latest`', does: 'replays what that run captured' },
  EVALS_BASELINE: { values: '`new`', does: 'runs without the accepted records that a gate compares with' },
} as const satisfies Readonly<Record<`EVALS_${string}`, { readonly values: string; readonly does: string }>>
export type EvalsVariable = keyof typeof EVALS_VARIABLES

/** Variables that switch something on or off. */
export const ENV_SWITCHES = [
  'EVALS_RESUME',
  'EVALS_RECONCILE',
  'EVALS_PLAN',
] as const satisfies readonly EvalsVariable[]
export type EnvSwitch = (typeof ENV_SWITCHES)[number]

const PREFIX = 'EVALS_'
const RESTS = Object.keys(EVALS_VARIABLES).map((name) => name.slice(PREFIX.length))

type Env = Readonly<Record<string, string | undefined>>

export function evalsVariable(name: EvalsVariable, env: Env = process.env): string | undefined {
  return env[name]
}

/**
 * @returns null: it is not set
 * @throws TypeError for anything but 0, 1 and nothing
 */
export function envSwitch(name: EnvSwitch, env: Env = process.env): boolean | null {
  const value = evalsVariable(name, env) ?? ''
  if (value === '') return null
  if (value === '0' || value === '1') return value === '1'
  throw plainError(`${name}=${JSON.stringify(value)} is neither 0 nor 1`)
}

/**
 * Variables that look like ours and that nothing reads, one sentence each: what they were to do would silently not
 * happen, and the run would buy.
 *
 * @param files what `.env` files set: they are for the workers, and no run looks there for ours
 */
export function strayVariables(env: Env, files: Env = {}): string[] {
  const stray = Object.keys(env).flatMap((name) => {
    const [, prefix = '', rest = ''] = /^(evals?_)(.*)$/is.exec(name) ?? []
    if (prefix === '' || Object.hasOwn(EVALS_VARIABLES, name)) return []
    const near = nearRest(rest)
    // Of another prefix it is ours only where it says the same.
    if (prefix !== PREFIX && near === null) return []
    const hint =
      near === null ? `the variables are ${Object.keys(EVALS_VARIABLES).join(', ')}` : `did you mean ${PREFIX}${near}?`
    return [`${name} is set, and nothing reads it: ${hint}`]
  })
  const unread = Object.keys(EVALS_VARIABLES).filter((name) => files[name] !== undefined && env[name] === undefined)
  return [
    ...stray,
    ...unread.map((name) => `${name} is set in a .env file, and nothing reads it there: set it in the environment`),
  ]
}

/** By what follows the prefix, which all of them share. */
function nearRest(rest: string): string | null {
  const begins = RESTS.find((known) => rest.length > 2 && known.startsWith(rest.toUpperCase()))
  return nearest(rest, RESTS) ?? begins ?? null
}
