import { z } from 'zod'
import type { Json } from '../campaign/canonical-json.ts'
import type { Terms } from './terms.ts'

export const PREREG_SCHEMA = 'vitest-campaign/prereg@1'

/** What is claimed before the data, and the terms under which it is tested. */
export interface Hypothesis {
  readonly schema?: typeof PREREG_SCHEMA
  /** Id of the campaign. */
  readonly campaign: string
  /** The claim in words, for instance "concise loses at most 5 points to current". */
  readonly claim: string
  /** As `npx vitest-campaign prereg <campaign>` writes them; a term that is left out counts as a deviation. */
  readonly terms: Terms
}

const json: z.ZodType<Json> = z.json()

export const HypothesisSchema: z.ZodType<Hypothesis> = z.strictObject({
  schema: z.literal(PREREG_SCHEMA, { error: `must be ${JSON.stringify(PREREG_SCHEMA)}` }).optional(),
  campaign: z.string().min(1),
  claim: z.string().min(1),
  terms: z.record(z.string(), json),
})

/**
 * A preregistration: for `gate.hypothesis`, or (as JSON) for a `*.prereg.json` beside the eval file. What runs is
 * compared with it; every difference is listed and makes the run exploratory.
 */
export function defineHypothesis(hypothesis: Hypothesis): Hypothesis {
  return Object.freeze({ ...hypothesis })
}
