import { providerCalls } from '../record/calls.ts'
import type { CellEvidence, Find } from './check.ts'
import { isFloating, isSameModel, modelFamily } from './model-name.ts'

/** Did the model answer that was asked, under a name that means one model, judged by another? */
export function checkModels({ calls }: CellEvidence, find: Find): void {
  const provider = providerCalls(calls)
  const mismatches = new Set<string>()
  const floating = new Set<string>()
  const families = { subject: new Map<string, string>(), judge: new Map<string, string>() }
  for (const { role, reading } of provider) {
    const { requestedModel: requested, servedModel: served } = reading
    if (requested === null) continue
    if (isFloating(requested)) floating.add(requested)
    if (role !== 'setup') families[role].set(modelFamily(requested), requested)
    // On Azure the requested name is that of the user's deployment, which says nothing of the model behind it.
    if (served === null || reading.provider === 'azure' || isSameModel(requested, served)) continue
    mismatches.add(`${requested} was asked and ${served} answered`)
  }
  for (const mismatch of mismatches) {
    find('model_mismatch', `${mismatch}: what is measured is not what the variant says; check gateway and fallbacks`)
  }
  for (const name of floating) {
    find('model_alias', `${name} is a name that may mean another model tomorrow: request a dated one`)
  }
  for (const [family, subject] of families.subject) {
    const judge = families.judge.get(family)
    if (judge === undefined) continue
    find(
      'judge_same_model',
      `${judge} judges the answers of ${subject}, a model of its own family: use a judge of another one`,
    )
  }
}
