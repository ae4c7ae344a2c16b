export const SEVERITIES = ['error', 'warn'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Severity of each check of a cell unless `integrity: { code: … }` says otherwise; `error` makes it `capture_error`. */
export const CELL_CHECKS = {
  no_provider_calls: 'error',
  exchange_incomplete: 'error',
  stream_truncated: 'error',
  answer_unreadable: 'error',
  replay_miss: 'error',
  secret_in_capture: 'error',
  route_not_allowed: 'error',
  canary_leak: 'error',
  late_call: 'error',
  stub_backend: 'error',
  profile_mismatch: 'error',
  provider_fault_swallowed: 'warn',
  usage_missing: 'warn',
  model_mismatch: 'warn',
  model_alias: 'warn',
  judge_same_model: 'warn',
  accounting_incomplete: 'warn',
  replay_unused: 'warn',
  seeds_identical: 'warn',
} as const satisfies Record<string, Severity>

export type CheckCode = keyof typeof CELL_CHECKS
// Object.keys loses the key type; the object above is the one list.
export const CHECK_CODES = Object.keys(CELL_CHECKS) as [CheckCode, ...CheckCode[]]

/** `off` drops a check; `error` and `warn` set its severity. */
export type IntegrityOptions = { readonly [code in CheckCode]?: Severity | 'off' }

export interface IntegrityIssue {
  readonly code: CheckCode
  readonly severity: Severity
  readonly message: string
}
