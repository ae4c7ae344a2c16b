import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { type Hypothesis, HypothesisSchema } from '../../core/prereg/hypothesis.ts'
import type { Registration } from '../../core/prereg/registration.ts'
import { readRecording } from '../replay/disk.ts'
import { committedSince } from './committed.ts'

/** How a preregistration ends its name. */
export const PREREG_END = '.prereg.json'

/**
 * The preregistration of a campaign: its gate's `hypothesis`, or the `*.prereg.json` beside the eval file that names it.
 * Null: there is none.
 *
 * @throws Error for a file that cannot be read, and for two registrations of one campaign
 */
export async function findRegistration(root: string, plan: CampaignPlan): Promise<Registration | null> {
  const { campaignId, file, hypothesis } = plan
  const folder = dirname(join(root, file))
  const found: { readonly source: string; readonly hypothesis: Hypothesis }[] =
    hypothesis === null ? [] : [{ source: file, hypothesis }]
  for (const name of (await readdir(folder)).filter((one) => one.endsWith(PREREG_END)).sort()) {
    const source = [...dirname(file).split('/'), name].filter((step) => step !== '.').join('/')
    const text = await readRecording({ base: folder, folders: [], file: name })
    const registered = parse(text ?? '', source)
    if (registered.campaign === campaignId) found.push({ source, hypothesis: registered })
  }
  const [first, second] = found
  if (first === undefined) return null
  if (second !== undefined)
    throw new Error(`it is registered twice, in ${first.source} and in ${second.source}: keep one`)
  return {
    source: first.source,
    claim: first.hypothesis.claim,
    terms: { ...first.hypothesis.terms },
    commit: await committedSince(join(root, first.source)),
  }
}

function parse(text: string, source: string): Hypothesis {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${source} is no JSON: ${(error as Error).message}`, { cause: error })
  }
  const parsed = HypothesisSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`${source} is no preregistration: ${issue?.path.join('.') || 'the top'}: ${issue?.message}`)
}
