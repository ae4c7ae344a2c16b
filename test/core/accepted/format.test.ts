import { describe, expect, it } from 'vitest'
import { AcceptedRecordsError, acceptedLines, parseAccepted } from '../../../src/core/accepted/format.ts'
import { headerOf } from '../../../src/core/accepted/header.ts'
import { sealedLine } from '../../../src/core/journal/sealed.ts'
import { fingerprintOf, planOf, recordsOf } from '../report/records.ts'

const plan = planOf({ scenarios: 3 })
const records = recordsOf(plan, () => 1)
const header = headerOf(
  {
    campaignId: plan.campaignId,
    file: plan.file,
    runId: 'run-1',
    startedAt: '2026-11-29T10:00:00.000Z',
    commit: { sha: null, dirty: false },
    fingerprint: fingerprintOf(plan),
    scorerDigest: plan.scorerDigest,
    primary: plan.primary,
  },
  records,
)
const text = [...acceptedLines(header, records)].join('')
const lines = text.split(/(?<=\n)/)
const FILE = 'evals/__baselines__/triage.jsonl'
const sealed = (record: object): string => sealedLine({ schema: 'vitest-campaign/accepted@1', record })

describe('accepted records', () => {
  it('are read as they were written, with Windows line ends too', () => {
    expect(parseAccepted(text, FILE)).toMatchObject({ header, records })
    expect(parseAccepted(text.replaceAll('\n', '\r\n'), FILE)).toMatchObject({ header, records })
  })

  it('have a header that no order of records changes', () => {
    expect(headerOf({ ...header }, records.toReversed())).toEqual(header)
    expect(header.rows).toBe(6)
    expect(header.variants.map(({ id }) => id)).toEqual(['concise', 'current'])
    expect(header.variants[0]?.models.requested).toEqual(records[0]?.model.requested)
  })

  it.each([
    [
      'a score edited by hand',
      text.replace('"score":1,', '"score":0,'),
      ':2: this is no line of accepted records: its checksum does not match',
    ],
    [
      'another schema version',
      sealedLine({ schema: 'vitest-campaign/accepted@2', header }),
      ':1: its schema is "vitest-campaign/accepted@2", and this version reads vitest-campaign/accepted@1',
    ],
    [
      'a record of another version',
      lines[0] + sealed({ ...records[0], schema: 'vitest-campaign/run-record@9' }),
      ':2: its schema is "vitest-campaign/run-record@9"',
    ],
    [
      'a merge conflict',
      `<<<<<<< HEAD\n${text}`,
      ':1: this is no line of accepted records: it has no checksum at its end',
    ],
    ['a line that is gone', lines.slice(0, -1).join(''), ':6: 5 whole records where the header counts 6'],
    ['a torn end', text.slice(0, -30), ':7: 5 whole records where the header counts 6'],
    ['a row twice', `${text}${lines[1]}`, ':8: a second record of current / s01 / seed 0; the first stands in line 2'],
    [
      'a row of another campaign',
      lines[0] + sealed({ ...records[0], campaignId: 'other' }),
      ':2: a record of campaign "other" among those of "triage"',
    ],
    ['nothing', '', ':1: the file holds no accepted records'],
    ['no header', lines.slice(1).join(''), ':1: the header is not valid at the top'],
    [
      'NaN for a score',
      lines[0] + sealed({ ...records[0], score: Number.NaN, status: 'scored', pass: 'yes' }),
      ':2: pass',
    ],
  ])('are refused for %s, with file, line and remedy', (_, content, message) => {
    const parse = () => parseAccepted(content, FILE)
    expect(parse).toThrow(AcceptedRecordsError)
    expect(parse).toThrow(`${FILE}${message}`)
    expect(parse).toThrow('Restore the file from git, or remove it and accept a run again')
  })
})
