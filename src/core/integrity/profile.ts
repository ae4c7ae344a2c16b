import { promptHashOf, providerCalls } from '../record/calls.ts'
import type { CellEvidence, Find } from './check.ts'
import { isSameModel } from './model-name.ts'

/** Was the output made by who the subject says it was? What it says of model and prompt must be what the wire shows. */
export function checkProfile({ calls, profile }: CellEvidence, find: Find): void {
  if (profile === null) return
  const provider = providerCalls(calls)
  const own = provider.filter(({ role }) => role === 'subject')
  const { model, promptHash } = profile
  const seen = new Set(own.flatMap(({ reading }) => [reading.requestedModel, reading.servedModel]))
  seen.delete(null)
  const names = [...seen] as string[]
  if (model !== undefined && names.length > 0 && !names.some((name) => isSameModel(model, name))) {
    find(
      'profile_mismatch',
      `the profile ${profile.id} says ${model}, and ${names.join(', ')} was called: this is not the agent it says`,
    )
  }
  const observed = promptHashOf(provider)
  if (promptHash !== undefined && observed !== null && promptHash !== observed) {
    find(
      'profile_mismatch',
      `the profile ${profile.id} says the prompt ${promptHash}, and ${observed} was sent: this is not the agent it says`,
    )
  }
}
