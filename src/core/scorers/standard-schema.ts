/**
 * The part of Standard Schema v1 (https://standardschema.dev) that is used here; zod, valibot and arktype schemas have
 * it. Written down rather than imported, so that no schema library is a dependency.
 */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
  }
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Some schemas are functions (arktype), others objects. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value
}

/** `orders.0.total: must be a number`. */
export function issueText({ path = [], message }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}
