import { relative } from 'node:path'
import type { Difference } from '../../core/traffic/difference.ts'
import { printable } from '../../core/traffic/hostile.ts'
import type { TapeMiss } from '../../core/traffic/tape.ts'
import { recordCell } from '../record-command.ts'
import type { RecorderParts } from './parts.ts'
import { recordingPath } from './path.ts'
import type { CellCall } from './recorder.ts'
import type { ReplayMiss } from './traffic.ts'

/** Differences shown one by one, so that the message stays within twelve lines. */
const SHOWN = 5
/** Longest path and longest excerpt of a value, code units. */
const PATH = 80
const EXCERPT = 60

/**
 * Why a call finds no answer in its cell's recording, what sets it apart from the nearest one, and the command that
 * records the cell again. Both requests are redacted already; what is quoted of them is safe to print.
 */
export function missOf(cellCall: CellCall, miss: TapeMiss | null, { settings }: RecorderParts): ReplayMiss {
  const { request, cell } = cellCall
  const { method, url } = request
  const { coordinates, evalFile } = cell.options
  const { campaignId, variantId, scenarioId, seed } = coordinates
  if (miss === null) {
    // The same for every cell of a campaign, so that Vitest prints it once; the command stands once below the reports.
    const message = `campaign "${campaignId}" has no recording of this cell, and this run replays (${settings.policyReason}): nothing was sent. The command that records it stands at the end of the output.`
    return { method, url, kind: 'no-recording', message }
  }
  const name = `campaign "${campaignId}", cell ${variantId} > ${scenarioId} > seed ${seed}`
  const { replayRun } = settings
  // A capture is replayed instead of the recordings.
  const file = relative(settings.root, replayRun ?? recordingPath(evalFile, coordinates))
  const lines: string[] = []
  if (miss.miss === 'exhausted') {
    const times = miss.recorded === 1 ? 'once' : `${miss.recorded} times`
    lines.push(`${name} made a request more often than its recording (${file}) holds it: ${times}.`)
  } else {
    lines.push(
      `${name} made a request that its recording (${file}) does not hold.`,
      ...nearestLines(cellCall, settings.projectName),
    )
  }
  lines.push(
    `This run replays (${settings.policyReason}), so ${method} ${printable(url, { max: 200 })} was not sent. ` +
      `To record this cell again (without -t: every cell of the file${replayRun === null ? '' : ', and without EVALS_REPLAY'}):`,
    `  ${recordCell(settings.record, evalFile, coordinates)}`,
  )
  return { method, url, kind: miss.miss, message: lines.join('\n') }
}

function nearestLines({ request, cell }: CellCall, projectName: string): string[] {
  const nearest = cell.tape?.nearest(request) ?? null
  if (nearest === null) return ['The recording holds no request at all.']
  const { differences } = nearest
  if (differences.length === 0) return ['Nothing sets it apart but what was `volatile` when it was recorded.']
  const volatile = differences.filter(({ looks }) => looks !== null).map(({ at }) => at)
  const pointers = volatile
    .slice(0, SHOWN)
    .map((at) => `'${cut(at)}'`)
    .join(', ')
  return [
    'Against the nearest recorded request, recorded → asked:',
    ...differences.slice(0, SHOWN).map(lineOf),
    ...(differences.length > SHOWN ? [`  and ${differences.length - SHOWN} more`] : []),
    ...(volatile.length === 0
      ? []
      : [
          `Made anew at every run, by their looks; to ignore them: volatile: [${pointers}] in ${projectName}'s options`,
        ]),
  ]
}

function lineOf({ at, recorded, asked, looks }: Difference): string {
  const from = firstDifference(recorded ?? '', asked ?? '')
  const guess = looks === null ? '' : ` (a ${looks}?)`
  return `  ${cut(at)}${guess}: ${excerpt(recorded, from)} → ${excerpt(asked, from)}`
}

function firstDifference(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

/** What stands around the first difference: two long prompts may differ in their last word. */
function excerpt(value: string | null, from: number): string {
  if (value === null) return 'nothing'
  const start = value.length <= EXCERPT ? 0 : Math.max(0, Math.min(from - 20, value.length - EXCERPT))
  const part = value.slice(start, start + EXCERPT).replace(/\s+/g, ' ')
  return `${start > 0 ? '…' : ''}${printable(part)}${start + EXCERPT < value.length ? '…' : ''}`
}

const cut = (path: string) => printable(path, { max: PATH }).replaceAll('\n', ' ')
