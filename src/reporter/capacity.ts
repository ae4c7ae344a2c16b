import { type LaneTraffic, WAIT_KINDS, type WaitKind } from '../core/capacity/lane-traffic.ts'
import type { CampaignReport } from '../core/report/report.ts'
import { inline } from './inline.ts'
import { duration, grouped, plural, unknown } from './numbers.ts'

const WORDS: { readonly [kind in WaitKind]: string } = {
  cells: 'capacity.cells',
  slots: 'its slots',
  pace: 'its pace',
  hold: 'holds',
  budget: 'the budget',
  'first-cell': 'its first cell',
}

/** What made a campaign wait for a lane, the longest first; empty where nothing did. */
export function waitWords({ waitedMs }: LaneTraffic): string {
  return WAIT_KINDS.filter((kind) => waitedMs[kind] > 0)
    .toSorted((a, b) => waitedMs[b] - waitedMs[a])
    .map((kind) => `${duration(waitedMs[kind])} for ${WORDS[kind]}`)
    .join(', ')
}

/** Answers that threw a lane back. */
export function faultWords({ throttled, faults }: LaneTraffic): string {
  const parts = [
    throttled === 0 ? '' : `${grouped(String(throttled))} throttled (429, 503, 529)`,
    faults === 0 ? '' : plural(faults, 'fault'),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

export const closedWords = ({ closed }: LaneTraffic): string =>
  closed === null ? '' : `closed (${closed.reason}): ${closed.detail}`

/** One sentence for each lane that made somebody wait, was throttled or closed; or that nobody knows. */
export function laneSentences({ capacity }: CampaignReport): string[] {
  if (capacity === undefined) return []
  if (capacity.lanes === null) return [`what was asked of the lanes is ${unknown(capacity.refused)}`]
  return capacity.lanes.flatMap((lane) => {
    const waits = waitWords(lane)
    const said = [waits === '' ? '' : `waited ${waits}`, faultWords(lane), closedWords(lane)].filter(
      (part) => part !== '',
    )
    if (said.length === 0) return []
    return [
      `${inline(lane.lane, 60)}: ${plural(lane.requests, 'request')}, up to ${lane.peak} of ${lane.concurrency} at once; ${said.join('; ')}`,
    ]
  })
}
