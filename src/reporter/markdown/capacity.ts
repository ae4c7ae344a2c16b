import type { CampaignReport } from '../../core/report/report.ts'
import { closedWords, faultWords, waitWords } from '../capacity.ts'
import { grouped, unknown } from '../numbers.ts'
import { code, EXAMPLE, text } from './text.ts'

/** What the campaign asked of the lanes, and what it waited for there. */
export function capacity({ capacity: found }: CampaignReport): string {
  if (found === undefined) return ''
  if (found.lanes === null) return `- what was asked of the lanes: ${unknown(found.refused)}`
  return found.lanes
    .map((lane) => {
      const waits = waitWords(lane)
      const parts = [
        `${grouped(String(lane.requests))} ${lane.requests === 1 ? 'request' : 'requests'}, up to ${lane.peak} of ${lane.concurrency} at once`,
        waits === '' ? 'nothing waited' : `waited ${waits}`,
        faultWords(lane),
        text(closedWords(lane), EXAMPLE),
      ]
      return `- ${code(lane.lane)}: ${parts.filter((part) => part !== '').join('; ')}`
    })
    .join('\n')
}
