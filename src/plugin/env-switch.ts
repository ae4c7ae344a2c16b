import { plainError } from './options.ts'

/** Variables that switch something on or off. */
export const ENV_SWITCHES = ['EVALS_RESUME', 'EVALS_RECONCILE', 'EVALS_PLAN'] as const
export type EnvSwitch = (typeof ENV_SWITCHES)[number]

/**
 * @returns null: it is not set
 * @throws TypeError for anything but 0, 1 and nothing
 */
export function envSwitch(name: EnvSwitch, env: NodeJS.ProcessEnv = process.env): boolean | null {
  const value = env[name] ?? ''
  if (value === '') return null
  if (value === '0' || value === '1') return value === '1'
  throw plainError(`${name}=${JSON.stringify(value)} is neither 0 nor 1`)
}
