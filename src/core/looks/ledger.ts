import { z } from 'zod'
import type { CampaignPlan } from '../campaign/plan.ts'
import { LineError } from '../journal/line.ts'
import { sealedLine, unsealed } from '../journal/sealed.ts'

export const LOOK_SCHEMA = 'vitest-campaign/look@1'

/** One confirmatory look at the holdout scenarios of a campaign. */
export const Look = z.strictObject({
  campaignId: z.string(),
  /** Digest of the registered terms. */
  prereg: z.string(),
  /** First 8 hex characters of the content digest of every scenario that was looked at. */
  scenarios: z.array(z.string().regex(/^[0-9a-f]{8}$/)),
  /** Digest of what the subjects answered: a replay of the same recordings has the same. */
  evidence: z.string(),
  /** Error rate that the look has spent, one-sided. */
  alpha: z.number().positive(),
  at: z.iso.datetime(),
  runId: z.string(),
})
export type Look = z.infer<typeof Look>

export interface Ledger {
  readonly looks: readonly Look[]
  readonly intactBytes: number
  readonly unended: boolean
}

/** A ledger that cannot be used; names file and line. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
}

/** A line of the ledger, newline included. */
export function lookLine(look: Look): string {
  return sealedLine({ schema: LOOK_SCHEMA, look })
}

/**
 * @param file its path, for messages
 * @returns the looks; how many bytes of the file hold them, what follows being a line that was cut off; and whether the
 *   last of them lacks its newline
 * @throws LedgerError for a line that is not what was written
 */
export function parseLedger(text: string, file: string): Ledger {
  const last = text.slice(text.lastIndexOf('\n') + 1)
  // An editor may have taken the newline of a whole line; that takes no look back.
  const unended = last !== '' && isSealed(last)
  const whole = unended ? `${text}\n` : text.slice(0, text.lastIndexOf('\n') + 1)
  const lines = whole.split('\n').slice(0, -1)
  const looks = lines.map((line, i) => {
    const fail = (why: string): never => {
      throw new LedgerError(
        `${file}:${i + 1}: this is no look: ${why}. Restore the file from git: looks are never taken back`,
      )
    }
    try {
      const { schema, look } = unsealed(line)
      if (schema !== LOOK_SCHEMA)
        return fail(`its schema is ${JSON.stringify(schema)}, and this version reads ${LOOK_SCHEMA}`)
      const parsed = Look.safeParse(look)
      return parsed.success ? parsed.data : fail(parsed.error.issues[0]?.message ?? 'it is not valid')
    } catch (error) {
      if (error instanceof LineError) return fail(error.message)
      throw error
    }
  })
  return { looks, intactBytes: Buffer.byteLength(whole) - (unended ? 1 : 0), unended }
}

function isSealed(line: string): boolean {
  try {
    unsealed(line)
    return true
  } catch {
    return false
  }
}

/** The scenarios that a verdict on this plan reads, as a look names them. */
export function lookedAt({ scenarios }: CampaignPlan): string[] {
  const holdout = scenarios.filter(({ split }) => split === 'holdout')
  const deciding = holdout.length === 0 ? scenarios : holdout
  return [...new Set(deciding.map(({ digest }) => digest.slice('sha256-jcs:'.length, 'sha256-jcs:'.length + 8)))].sort()
}

/** Looks that share a scenario with these: changing a few of them does not make a holdout fresh. */
export function looksAt(looks: readonly Look[], scenarios: readonly string[]): readonly Look[] {
  const wanted = new Set(scenarios)
  return looks.filter((look) => look.scenarios.some((scenario) => wanted.has(scenario)))
}
