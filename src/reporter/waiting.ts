import type { LaneWait, Wait } from '../core/capacity/waiting.ts'
import { inline } from './inline.ts'
import { duration, plural } from './numbers.ts'

const WORDS: { readonly [kind in Wait['kind']]: string } = {
  cells: 'all cells of the run are in flight',
  slots: 'its slots are taken',
  pace: 'requests or tokens per minute are used up',
  hold: 'held',
  budget: 'money held for others must come back',
  'first-cell': 'its first cell runs alone',
}

/** Who waits for a lane, and why, in one line. */
export function whyWaiting({ lane, waitingCells, waitingJudges, waitingRequests, why }: LaneWait): string {
  const who = [
    waitingCells > 0 ? plural(waitingCells, 'cell') : '',
    waitingJudges > 0 ? plural(waitingJudges, 'judge') : '',
    waitingRequests > 0 ? plural(waitingRequests, 'request') : '',
  ].filter((part) => part !== '')
  const reasons = why.map(({ kind, forMs, reason }) => {
    const left = forMs === null ? '' : ` for ${duration(forMs)}`
    return `${WORDS[kind]}${left}${reason === null ? '' : ` (${inline(reason, 60)})`}`
  })
  const because = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
  return `${inline(lane, 60)} waits, ${who.join(', ')}${because}`
}
