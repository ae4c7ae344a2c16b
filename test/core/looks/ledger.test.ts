import { describe, expect, it } from 'vitest'
import { countLook, nextLook } from '../../../src/core/looks/count.ts'
import { evidenceOf } from '../../../src/core/looks/evidence.ts'
import { type Look, lookedAt, lookLine, parseLedger } from '../../../src/core/looks/ledger.ts'
import { planOf, recordsOf } from '../report/records.ts'

const FILE = 'evals/__baselines__/triage.looks.jsonl'
const look = (parts: Partial<Look> = {}): Look => ({
  campaignId: 'triage',
  prereg: 'sha256-jcs:1',
  scenarios: ['0000000a', '0000000b'],
  evidence: 'sha256:1',
  alpha: 0.0125,
  at: '2026-11-29T10:00:00.000Z',
  runId: 'run-1',
  ...parts,
})
const text = [look(), look({ evidence: 'sha256:2', runId: 'run-2' })].map(lookLine).join('')

describe('the look ledger', () => {
  it('is read as it was written, and a torn end does not count', () => {
    const { looks, intactBytes, unended } = parseLedger(text, FILE)
    expect(looks.map(({ runId }) => runId)).toEqual(['run-1', 'run-2'])
    expect({ intactBytes, unended }).toEqual({ intactBytes: text.length, unended: false })
    const torn = parseLedger(`${text}{"schema":"vitest-campaign/look@1","lo`, FILE)
    expect({ looks: torn.looks.length, bytes: torn.intactBytes }).toEqual({ looks: 2, bytes: text.length })
  })

  it('takes no look back where only the last newline is gone', () => {
    expect(parseLedger(text.trimEnd(), FILE)).toMatchObject({
      looks: [{}, {}],
      unended: true,
      intactBytes: text.length - 1,
    })
  })

  it.each([
    ['an edited line', text.replace('0.0125', '0.0001'), ':1: this is no look: its checksum does not match'],
    ['a line of something else', `hello\n${text}`, ':1: this is no look: it has no checksum'],
    [
      'another version',
      text.replace(/.*\n$/, '') + lookLine(look()).replace('look@1', 'look@2'),
      ':2: this is no look',
    ],
  ])('is refused with file and line for %s', (_, content, message) => {
    expect(() => parseLedger(content, FILE)).toThrow(`${FILE}${message}`)
  })
})

describe('counting', () => {
  const { looks } = parseLedger(text, FILE)
  const seen = (digest: string) => ({ digest, fresh: true, cells: 2 })

  it('the same evidence is the same look, another is the next', () => {
    expect(countLook(looks, ['0000000a'], seen('sha256:1'))).toEqual({
      used: 1,
      spent: 0.0125,
      since: '2026-11-29T10:00:00.000Z',
    })
    expect(countLook(looks, ['0000000a'], seen('sha256:2'))).toMatchObject({ used: 2, spent: 0.025 })
    expect(countLook(looks, ['0000000a'], seen('sha256:3'))).toBeNull()
    expect(nextLook(looks, ['0000000a'], 0.0125)).toEqual({ used: 3, spent: expect.closeTo(0.0375), since: null })
  })

  it('a holdout with one scenario kept is not fresh, one without any is', () => {
    expect(nextLook(looks, ['0000000b', '0000000c'], 0.0125).used).toBe(3)
    expect(nextLook(looks, ['0000000c'], 0.0125)).toEqual({ used: 1, spent: 0.0125, since: null })
  })

  it('looks at the holdout, or at everything where there is none', () => {
    const plan = planOf({ scenarios: [{ id: 'a', split: 'search' }, { id: 'b' }] })
    const [, b] = plan.scenarios
    expect(lookedAt(plan)).toEqual([b?.digest.slice(11, 19)])
    expect(
      lookedAt(
        planOf({
          scenarios: [
            { id: 'a', split: 'dev' },
            { id: 'b', split: 'dev' },
          ],
        }),
      ),
    ).toHaveLength(2)
  })

  it('evidence is what was answered: a replay has the same, another answer another', () => {
    const plan = planOf({ scenarios: 3 })
    const live = recordsOf(plan, () => 1)
    const replayed = live.map((record) => ({
      ...record,
      provenance: 'replayed' as const,
      runId: 'run-9',
      startedAt: '2027-01-01T00:00:00.000Z',
    }))
    expect(evidenceOf(live)).toMatchObject({ fresh: true, cells: 6 })
    expect(evidenceOf(replayed.toReversed())).toEqual({ ...evidenceOf(live), fresh: false })
    const [first, ...rest] = live
    if (first?.output == null) throw new Error('no output')
    const other = { ...first, output: { ...first.output, digest: plan.scorerDigest } }
    expect(evidenceOf([other, ...rest]).digest).not.toBe(evidenceOf(live).digest)
  })
})
