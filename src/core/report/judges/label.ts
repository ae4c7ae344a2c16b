import { z } from 'zod'

export const LABEL_SCHEMA = 'vitest-campaign/label@1'

/** What a person says about one output, beside what a judge said. */
export const HumanLabel = z.strictObject({
  schema: z.literal(LABEL_SCHEMA),
  campaignId: z.string(),
  variantId: z.string(),
  scenarioId: z.string(),
  seed: z.number().int(),
  /** Digest of the output that was looked at (`output.digest` of its record): another output is not labelled by it. */
  output: z.string().regex(/^sha256-jcs:[0-9a-f]{64}$/),
  /** The scorer whose question the person answered. */
  scorer: z.string(),
  /** On the scorer's scale. */
  value: z.number(),
  /** Whether it passes, where the scorer says so too. */
  pass: z.boolean().optional(),
  /** Who labelled; several people may label one output. */
  rater: z.string().min(1).optional(),
})
export type HumanLabel = z.infer<typeof HumanLabel>

/** A line of a label file that cannot be used. */
export class InvalidLabelError extends Error {
  override readonly name = 'InvalidLabelError'
}

/**
 * Labels of a JSON-lines file, in its order; blank lines are skipped.
 *
 * @param file names the file in errors
 * @throws InvalidLabelError naming file, line and path of the first line that is no label, or repeats one
 */
export function parseLabels(text: string, file: string): HumanLabel[] {
  const known = new Map<string, number>()
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    const where = `${file}:${at + 1}`
    const parsed = HumanLabel.safeParse(parseJson(line, where))
    if (!parsed.success) {
      const [first] = parsed.error.issues
      throw new InvalidLabelError(
        `${where}: ${first?.path.join('.') || 'the label'}: ${first?.message ?? 'is invalid'}`,
      )
    }
    const { campaignId, variantId, scenarioId, seed, output, scorer, rater } = parsed.data
    const key = JSON.stringify([campaignId, variantId, scenarioId, seed, output, scorer, rater ?? null])
    const twin = known.get(key)
    if (twin !== undefined)
      throw new InvalidLabelError(`${where}: labels the output of line ${twin} once more: name a rater, or drop one`)
    known.set(key, at + 1)
    return [parsed.data]
  })
}

function parseJson(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new InvalidLabelError(`${where}: is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
