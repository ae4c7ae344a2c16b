import { type ProviderCall, providerCalls } from '../record/calls.ts'
import type { CellEvidence, CheckedCall, Find } from './check.ts'
import { counted, firstOf, named, namedCall } from './named.ts'

/** Do we know what was used and what it cost, and was it a real model that used it? */
export function checkAccounting({ calls, open, subject }: CellEvidence, find: Find): void {
  const provider = calls.filter((call) => isProvider(call))
  checkStub(providerCalls(calls), find)
  const silent = provider.filter(
    ({ reading }) => reading.usageMissing === 'not-reported' || reading.usageMissing === 'unreadable',
  )
  if (silent.length > 0) {
    const streamed = silent.some(({ reading }) => reading.streamed && reading.api === 'openai-chat')
    const advice = streamed ? 'ask for it with stream_options: { include_usage: true }' : 'tokens and cost are unknown'
    find(
      'usage_missing',
      `${counted(silent.length, 'answer')} reported no usage (${firstOf(silent.map(namedCall))}): ${advice}`,
    )
  }
  const lost = provider.filter(({ reading }) => reading.usageMissing === 'incomplete').map(namedCall)
  // With an output, an open request is an error of its own: exchange_incomplete.
  if (subject === 'failed') lost.push(...open.map(named))
  if (lost.length > 0) {
    find(
      'accounting_incomplete',
      `${counted(lost.length, 'call')} ended before the bill was known (${firstOf(lost)}): the cost of this cell is unknown`,
    )
  }
  const unpriced = provider.filter(
    ({ reading, cost }) => reading.usage !== null && (cost === null || cost.microUsd === null),
  )
  if (unpriced.length > 0) {
    const lanes = firstOf(unpriced.map(({ reading }) => reading.lane))
    find('accounting_incomplete', `no price is known for ${lanes}: declare one, or price: 0 for a local model`)
  }
}

function isProvider(call: CheckedCall): call is CheckedCall & ProviderCall {
  return call.reading !== null && call.source !== 'mocked'
}

/** A backend that answers and never counts a token is no model. */
function checkStub(calls: readonly ProviderCall[], find: Find): void {
  const answers = calls.filter(({ reading }) => reading.error === null)
  if (answers.length === 0) return
  const allZero = answers.every(({ reading: { usage } }) => {
    const counts = usage === null ? [] : [usage.input, usage.output].filter((count) => count !== null)
    return counts.length > 0 && counts.every((count) => count === 0)
  })
  if (!allZero) return
  find(
    'stub_backend',
    `every answer reported 0 tokens (${firstOf(answers.map(({ reading }) => reading.lane))}): this is a stub, not a model; point the subject at the real one, or set integrity: { stub_backend: 'warn' }`,
  )
}
