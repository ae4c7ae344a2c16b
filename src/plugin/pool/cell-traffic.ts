import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { CellTraffic } from '../../core/report/material.ts'
import { readCapture } from '../../core/traffic/capture.ts'
import { decodeCapture, decodeRecording } from '../../core/traffic/format.ts'
import { isSentLine } from '../../core/traffic/sent.ts'
import { findRecording, readShared } from '../replay/disk.ts'
import { RECORDINGS, recordingPlace } from '../replay/path.ts'
import { readAttempt } from '../replay/raw.ts'

type Part = CellTraffic['parts'][number]

/**
 * What a cell asked and was answered, from where it lies: the captures of its attempts in the folder of the run, and the
 * recording that it replayed. What cannot be read is a note, and no error: a report does not fail for want of it.
 *
 * @param root of the project
 */
export function cellTraffic(runDir: string, root: string, plan: CampaignPlan, record: RunRecord): CellTraffic {
  const parts: Part[] = []
  const notes: string[] = []
  const take = (
    what: string,
    read: () => { readonly part: Part; readonly note: string | null } | string | null,
  ): void => {
    try {
      const found = read()
      if (typeof found === 'string') notes.push(found)
      else if (found !== null) {
        parts.push(found.part)
        if (found.note !== null) notes.push(found.note)
      }
    } catch (error) {
      notes.push(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  for (let attempt = 1; attempt <= record.attempts; attempt++) {
    take(`the capture of attempt ${attempt}`, () => captureOf(runDir, record.cellId, attempt))
  }
  // A carried cell's captures came with it; that it replayed shows in the instant it names.
  if (record.provenance !== 'live' && record.recordedAt !== null)
    take('the recording', () => recordingOf(root, plan, record))
  return { parts, notes }
}

function captureOf(runDir: string, cellId: string, attempt: number) {
  const found = readAttempt(runDir, cellId, attempt)
  if (found === null) return null
  const file = shown(runDir, found.path)
  const { value, note } = decodeCapture(found.text, file)
  const lost = readCapture(found.text, file).unfinished.length
  const unanswered = lost === 0 ? null : `${file}: ${lost} of its requests left and ended nowhere`
  const lines = found.text.split('\n').flatMap((line, i) => (line === '' || isSentLine(line) ? [] : [i + 1]))
  return { part: { file, lines, attempt, exchanges: value }, note: note ?? unanswered }
}

function recordingOf(root: string, plan: CampaignPlan, { variantId, scenarioId, seed, recordedAt }: RunRecord) {
  const place = recordingPlace(resolve(root, plan.file), { campaignId: plan.campaignId, variantId, scenarioId, seed })
  const path = findRecording(place)
  if (path === null) return 'its recording is not there: another run was replayed, or it was removed since'
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let text: string
  try {
    text = readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
  const file = shown(root, path)
  const recordings = join(place.base, RECORDINGS)
  const { value, note } = decodeRecording(text, file, (name) => readShared(recordings, name))
  // The record names the instant of its oldest call: a recording without it is another one.
  if (recordedAt !== null && !value.exchanges.some(({ startedAt }) => startedAt === recordedAt)) {
    return `${file} was recorded again since this run, which replayed what stood there before`
  }
  return {
    part: { file, lines: value.exchanges.map((_, i) => i + 2), attempt: null, exchanges: value.exchanges },
    note,
  }
}

const shown = (base: string, path: string): string => relative(base, path).split(sep).join('/')
