import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../src/core/campaign/cells.ts'
import { type EarlierRun, earlierRun } from '../../../src/core/journal/earlier.ts'
import type { EntryOf, JournalEntry } from '../../../src/core/journal/entry.ts'
import { isUnfinished, resumePlan } from '../../../src/core/journal/resume.ts'
import { countFates, resumedReasons } from '../../../src/core/journal/resumption.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { BOUND, CALL, linesOf, Machine, outputEntry, runEntry, type Script } from './crashing.ts'
import { planOf, recordOf, someDigest } from './samples.ts'

/** The same numbers for the same seed: a schedule can be told again. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const campaign = (scenarios: number, seed: number): Script => ({
  plan: planOf(
    'triage',
    ['a', 'b'],
    Array.from({ length: scenarios }, (_, i) => `s${i}`),
    2,
  ),
  slots: 8,
  random: numbers(seed),
  judged: ({ cellId }) => cellId < '8',
})

const settledIn = (journal: readonly JournalEntry[]): RunRecord[] =>
  journal.flatMap((entry) => (entry.kind === 'settled' ? [entry.record] : []))

/** What is the same however often a run was cut off. */
const lasting = (records: readonly RunRecord[]) =>
  records
    .map(({ runId: _run, startedAt: _at, attempts: _attempts, provenance: _provenance, ...rest }) => rest)
    .sort((a, b) => (a.cellId < b.cellId ? -1 : 1))

/** Everything that was ever paid stands in the last run: in a record, or among what left none. */
function account(machine: Machine) {
  const journal = machine.journals.at(-1) ?? []
  const records = settledIn(journal)
  const spends = journal.flatMap((entry) => (entry.kind === 'resumed' ? entry.spends : []))
  const recorded = records.reduce((sum, { cost }) => sum + Math.round((cost.usd ?? Number.NaN) * 1_000_000), 0)
  const known = spends.reduce((sum, { microUsd }) => sum + microUsd, 0)
  const unknown = spends.reduce((sum, { unknownCalls }) => sum + unknownCalls, 0)
  const bound = spends.reduce((sum, { boundMicroUsd }) => sum + (boundMicroUsd ?? Number.NaN), 0)
  return { records, known: recorded + known, unknown, bound }
}

/** P3, P4, P8, P9, and that money is the provider's count or unknown within its bound. */
function expectSound(machine: Machine, script: Script, whole: readonly RunRecord[]): void {
  const { records, known, unknown, bound } = account(machine)
  expect(records).toHaveLength(cellsOf(script.plan).length)
  expect(lasting(records)).toEqual(lasting(whole))
  expect(machine.paid).toBeGreaterThanOrEqual(known)
  expect(machine.paid).toBeLessThanOrEqual(known + bound)
  if (unknown === 0) expect(machine.paid).toBe(known)
}

/** Cells that were settled with a result when the machine died. */
function settledCells(machine: Machine): ReadonlySet<string> {
  return new Set(settledIn(machine.journals[0] ?? []).map(({ cellId }) => cellId))
}

describe('a campaign of 200 cells, judges among them, that dies after any write', () => {
  const script = (): Script => campaign(50, 7)
  const whole = new Machine()
  expect(whole.run(script())).toBe(true)
  const steps = (whole.journals[0]?.length ?? 0) + [...(whole.captures[0]?.values() ?? [])].flat().length
  const wholeRecords = settledIn(whole.journals[0] ?? [])

  test('goes on to the records of a run that did not, and pays nothing twice that was settled', () => {
    expect(wholeRecords).toHaveLength(200)
    for (let dies = 1; dies < steps; dies++) {
      const machine = new Machine(dies)
      expect(machine.run(script())).toBe(false)
      const settled = settledCells(machine)
      const before = new Map(machine.calls)
      expect(machine.run({ ...script(), random: numbers(dies) }, Number.POSITIVE_INFINITY)).toBe(true)
      const again = [...settled].filter((cellId) =>
        (['subject', 'judge'] as const).some(
          (role) => machine.called(cellId, role) !== (before.get(`${cellId} ${role}`) ?? 0),
        ),
      )
      expect(again, `settled cells that ran again after ${dies} writes`).toEqual([])
      if (dies % 25 === 0 || dies > steps - 40) expectSound(machine, script(), wholeRecords)
      else expect(account(machine).records).toHaveLength(200)
    }
  })

  describe('under a budget of so much of what it costs', () => {
    const cost = whole.paid
    /** Calls made, by cell and role, of those that a settlement or a journalled output says are never made again. */
    const lastingCalls = (machine: Machine): string[] => {
      const journal = machine.journals[0] ?? []
      const settled = journal.flatMap((entry) =>
        entry.kind === 'settled' && entry.record.status === 'scored' ? [entry.record.cellId] : [],
      )
      const kept = journal.flatMap((entry) => (entry.kind === 'subject-settled' ? [entry.cellId] : []))
      return [
        ...settled.map((cellId) => `${cellId} judge`),
        ...[...settled, ...kept].map((cellId) => `${cellId} subject`),
      ]
    }

    /** P2: what was paid is charged or unknown, and all of it within the budget, whatever died. */
    function expectWithin(machine: Machine, budget: number): void {
      const { chargedMicroUsd = 0, unknownMicroUsd = 0, heldMicroUsd = 1, overshootMicroUsd = 1 } = machine.budget ?? {}
      expect([heldMicroUsd, overshootMicroUsd]).toEqual([0, 0])
      expect(chargedMicroUsd + unknownMicroUsd).toBeLessThanOrEqual(budget)
      expect(machine.paid).toBeGreaterThanOrEqual(chargedMicroUsd)
      expect(machine.paid).toBeLessThanOrEqual(chargedMicroUsd + unknownMicroUsd)
      const { unknown, bound } = account(machine)
      expect(unknownMicroUsd).toBe(bound)
      if (unknown === 0) expect(machine.paid).toBe(chargedMicroUsd)
    }

    test.each([30, 76, 107])(
      '%d per cent: nothing is exceeded, forgotten or bought twice, and more money ends it',
      (percent) => {
        const budget = Math.floor((cost * percent) / 100)
        const tight = (seed: number): Script => ({ ...script(), random: numbers(seed), budget })
        const once = new Machine()
        expect(once.run(tight(7))).toBe(true)
        const writes = (once.journals[0]?.length ?? 0) + [...(once.captures[0]?.values() ?? [])].flat().length
        // All writes are done in the three of them together.
        for (let dies = 1 + (percent % 3); dies < writes; dies += 3) {
          const machine = new Machine(dies)
          expect(machine.run(tight(7))).toBe(false)
          const before = new Map(machine.calls)
          const never = lastingCalls(machine)
          expect(machine.run(tight(dies), Number.POSITIVE_INFINITY)).toBe(true)
          expect(
            never.filter((call) => machine.calls.get(call) !== before.get(call)),
            `bought again after ${dies} writes`,
          ).toEqual([])
          expectWithin(machine, budget)
          const { records } = account(machine)
          expect(records).toHaveLength(200)
          const unrun = records.filter(({ status }) => status !== 'scored')
          expect(unrun.every(({ status, reason }) => status === 'not_run' && reason === 'budget')).toBe(true)
          // Nobody is refused while there is money for one more cell.
          const { chargedMicroUsd = 0, unknownMicroUsd = 0 } = machine.budget ?? {}
          const left = budget - chargedMicroUsd - unknownMicroUsd
          if (unrun.length > 0) expect(left).toBeLessThan(BOUND.subject + BOUND.judge)
          // One that is done would be measured anew.
          if (dies % 7 !== 0 || unrun.length === 0) continue
          expect(machine.run({ ...tight(dies + 1), budget: cost * 2 }, Number.POSITIVE_INFINITY)).toBe(true)
          expectSound(machine, script(), wholeRecords)
          expectWithin(machine, cost * 2)
        }
      },
    )
  })

  test('P5: one that died before its verdict, with every cell settled, spends nothing more', () => {
    const machine = new Machine(steps - 1)
    machine.run(script())
    expect(settledCells(machine).size).toBe(200)
    const paid = machine.paid
    expect(machine.run(script(), Number.POSITIVE_INFINITY)).toBe(true)
    expect(machine.paid).toBe(paid)
    expect(account(machine).records.every(({ provenance }) => provenance === 'carried')).toBe(true)
  })
})

test('a campaign that dies again and again comes to its end with every cent accounted for', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 12 }), fc.nat(), (lives, seed) => {
      const script = campaign(5, seed)
      const whole = new Machine()
      whole.run(campaign(5, 1))
      const machine = new Machine()
      const hasEnded = () => machine.journals.at(-1)?.at(-1)?.kind === 'end'
      for (const steps of lives) if (!hasEnded()) machine.run(script, steps)
      const settled = settledIn(machine.journals.at(-1) ?? [])
      const ended = hasEnded()
      if (!ended) expect(machine.run(script, Number.POSITIVE_INFINITY)).toBe(true)
      expectSound(machine, script, settledIn(whole.journals[0] ?? []))
      // Attempts are counted, and no number is given to two of them.
      const { records } = account(machine)
      for (const { attempts } of records) expect(attempts).toBeLessThanOrEqual(lives.length + 1)
      if (!ended && machine.journals.length > 1) {
        for (const record of settled) {
          const now = records.find(({ cellId }) => cellId === record.cellId)
          expect(now?.attempts).toBe(record.attempts)
        }
      }
    }),
    { numRuns: 150 },
  )
})

const at = '2026-01-02T03:04:05.000Z'
const plan = planOf('triage', ['a'], ['q'], 1)
const planned: EntryOf<'plan'> = { kind: 'plan', plan, fingerprint: someDigest, selection: 'all', skipped: false }
const [cell] = cellsOf(plan)
if (cell === undefined) throw new Error('one cell')
const { cellId } = cell
const admitted = (attempt: number, heldMicroUsd?: number): JournalEntry => ({
  kind: 'admitted',
  cellId,
  attempt,
  lane: null,
  ...(heldMicroUsd === undefined ? {} : { heldMicroUsd }),
  at,
})
const settled = (more: Partial<RunRecord> = {}): JournalEntry => ({
  kind: 'settled',
  record: recordOf('triage', 'a', 'q', 0, more),
})
const judgeFailed = settled({ status: 'judge_error', score: null, pass: null })

/** What becomes of the only cell. */
function fateAfter(entries: readonly JournalEntry[], reconciled = false, of = plan) {
  const run = earlierRun(linesOf([runEntry('r1'), { ...planned, plan: of }, ...entries]))
  const campaignOf = run.campaigns.get('triage')
  if (campaignOf === undefined) throw new Error('it is planned')
  const { fates, spent } = resumePlan(campaignOf, run.cells, [cell as NonNullable<typeof cell>], { reconciled })
  return { fate: fates.get(cellId), spent }
}

describe('what becomes of a cell', () => {
  test('scenario 43: intent before, settlement after: a settled cell is carried over', () => {
    const { fate, spent } = fateAfter([admitted(1), settled()])
    expect(fate).toMatchObject({ kind: 'carried' })
    expect(spent).toEqual([])
  })

  test('scenario 44: the settlement is lost, the output is there: it is scored, once, with its attempt', () => {
    const { fate, spent } = fateAfter([admitted(1), outputEntry(cellId, 1)])
    expect(fate).toMatchObject({ kind: 'rescored', attempt: 1 })
    // Its subject's calls stay the record's; those of its judges are looked for.
    expect(spent).toEqual([{ cellId, attempt: 1, from: 'capture', heldMicroUsd: null }])
  })

  test('scenario 45: settlement and output are lost: a new attempt, and the first one’s money is looked for', () => {
    const { fate, spent } = fateAfter([admitted(1, 500)])
    expect(fate).toEqual({ kind: 'again', attempts: 1, why: 'unknown_effect' })
    expect(spent).toEqual([{ cellId, attempt: 1, from: 'capture', heldMicroUsd: 500 }])
  })

  test('scenario 46: the same with side effects waits until somebody has looked', () => {
    const effects = { ...plan, sideEffects: true as const }
    expect(fateAfter([admitted(1)], false, effects).fate).toEqual({ kind: 'held', attempts: 1 })
    expect(fateAfter([admitted(1)], true, effects).fate).toMatchObject({ kind: 'again', attempts: 1 })
    // What a lost worker did, or a subject that was stopped, nobody knows either.
    const lost = settled({ status: 'infra_error', reason: 'worker-lost', output: null })
    expect(fateAfter([admitted(1), lost], false, effects).fate).toEqual({ kind: 'held', attempts: 1 })
    // It never began: nothing can have happened.
    expect(fateAfter([], false, effects).fate).toEqual({ kind: 'again', attempts: 0, why: 'not_run' })
    // It ended: nothing is unknown.
    expect(fateAfter([admitted(1), settled()], false, effects).fate).toMatchObject({ kind: 'carried' })
    // The next run holds it too, and counts on.
    const held = settled({ status: 'not_run', reason: 'unknown-effect', attempts: 1, score: null })
    expect(fateAfter([held], false, effects).fate).toEqual({ kind: 'held', attempts: 1 })
    expect(fateAfter([held], true, effects).fate).toMatchObject({ kind: 'again', attempts: 1 })
  })

  test('scenario 47: what is known of an attempt before that one is not lost', () => {
    const before = {
      cellId,
      attempt: 1,
      part: 'all',
      calls: 1,
      microUsd: 7,
      unknownCalls: 0,
      boundMicroUsd: 0,
    } as const
    const resumed: JournalEntry = {
      kind: 'resumed',
      campaignId: 'triage',
      from: 'r0',
      since: at,
      carried: 0,
      rescored: 0,
      spends: [before],
    }
    // It was cut off again before it came to the cell: the attempt still counts, and is not charged twice.
    const { fate, spent } = fateAfter([resumed])
    expect(fate).toEqual({ kind: 'again', attempts: 1, why: 'not_run' })
    expect(spent).toEqual([])
    expect(fateAfter([resumed, admitted(2)]).spent).toMatchObject([{ attempt: 2, from: 'capture' }])
  })

  test('scenario 48: a record’s cost is taken as it is, and an unknown one is looked for', () => {
    const fault = { status: 'infra_error', reason: 'provider-fault', score: null, output: null } as const
    const cost = { usd: 0.0002, provenance: 'estimated', subjectUsd: 0.0002, judgeUsd: 0 } as const
    const known = fateAfter([admitted(1), settled({ ...fault, cost })])
    expect(known.fate).toEqual({ kind: 'again', attempts: 1, why: 'infra_error' })
    expect(known.spent).toMatchObject([{ attempt: 1, from: 'record', microUsd: 200 }])
    const unknown = { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null } as const
    expect(fateAfter([admitted(1), settled({ ...fault, cost: unknown })]).spent).toMatchObject([{ from: 'capture' }])
  })

  test('a cell that its run had run again is charged for both attempts', () => {
    const both = [
      { attempt: 1, from: 'capture' },
      { attempt: 2, from: 'capture' },
    ]
    expect(fateAfter([admitted(1), admitted(2)]).spent).toMatchObject(both)
    // Each with what was held for it.
    const held = fateAfter([admitted(1, 500), admitted(2, 700)]).spent
    expect(held).toMatchObject([{ heldMicroUsd: 500 }, { heldMicroUsd: 700 }])
    expect(fateAfter([admitted(1), admitted(2), outputEntry(cellId, 2)]).spent).toMatchObject(both)
    // A record has the calls of both in its bill.
    const cost = { usd: 0.0002, provenance: 'estimated', subjectUsd: 0.0002, judgeUsd: 0 } as const
    const record = settled({
      status: 'infra_error',
      reason: 'provider-fault',
      score: null,
      output: null,
      attempts: 2,
      cost,
    })
    expect(fateAfter([admitted(1), admitted(2), record]).spent).toMatchObject([{ attempt: 2, from: 'record' }])
  })

  test('scenario 54: its judge failed: it is judged again, its subject and its attempt stay', () => {
    expect(fateAfter([admitted(1), outputEntry(cellId, 1), judgeFailed]).fate).toMatchObject({
      kind: 'rescored',
      attempt: 1,
    })
    // A worker that died under the judge had the output journalled.
    const lost = settled({ status: 'infra_error', reason: 'worker-lost', output: null, score: null })
    expect(fateAfter([admitted(1), outputEntry(cellId, 1), lost]).fate).toMatchObject({ kind: 'rescored' })
    // A request that was refused measured nothing, whatever the subject made of it.
    const refused = settled({ status: 'infra_error', reason: 'lane-failed', output: null, score: null })
    expect(fateAfter([admitted(1), outputEntry(cellId, 1), refused]).fate).toMatchObject({ kind: 'again' })
  })

  test('an output that was redacted is not what the subject gave: it is not scored', () => {
    const fate = { kind: 'again', attempts: 1, why: 'unfaithful' }
    expect(fateAfter([admitted(1), outputEntry(cellId, 1, false)]).fate).toEqual(fate)
    expect(fateAfter([admitted(1), judgeFailed]).fate).toEqual({ kind: 'again', attempts: 1, why: 'judge_error' })
  })

  test('the output of an earlier attempt is not the last one’s', () => {
    expect(fateAfter([admitted(1), outputEntry(cellId, 1), judgeFailed, admitted(2)]).fate).toEqual({
      kind: 'again',
      attempts: 2,
      why: 'unknown_effect',
    })
  })

  test.each(['scored', 'task_fail', 'capture_error'] as const)('%s is a result, and is carried over', (status) => {
    expect(fateAfter([admitted(1), settled({ status })]).fate).toMatchObject({ kind: 'carried' })
  })

  test('a cell that was replayed replays again', () => {
    expect(fateAfter([settled({ provenance: 'replayed' })])).toEqual({
      fate: { kind: 'again', attempts: 0, why: 'replayed' },
      spent: [],
    })
  })
})

describe('a run is unfinished', () => {
  const isLeft = (run: EarlierRun, answers = true) => isUnfinished(run, () => answers)
  const runOf = (...entries: readonly JournalEntry[]) => earlierRun(linesOf([runEntry('r1'), planned, ...entries]))
  const end = (reason: EntryOf<'end'>['reason']): JournalEntry => ({ kind: 'end', reason })

  test('when it was cut off, or a cell has no result', () => {
    expect(isLeft(runOf(settled()))).toBe(true)
    expect(isLeft(runOf(settled(), end('interrupted')))).toBe(true)
    expect(isLeft(runOf(judgeFailed, end('finished')))).toBe(true)
    expect(isLeft(runOf(settled({ status: 'not_run', reason: 'budget' }), end('finished')))).toBe(true)
    expect(isLeft(runOf(settled(), end('finished')))).toBe(false)
  })

  test('but not for a campaign that another run went on with', () => {
    const fenced: JournalEntry = { kind: 'fenced', by: 'r2', campaignId: 'triage', at }
    expect(isLeft(runOf(judgeFailed, end('finished'), fenced))).toBe(false)
    // It died before it answered for anything.
    expect(isLeft(runOf(judgeFailed, end('finished'), fenced), false)).toBe(true)
  })

  test('and not for the cells that a filter left out', () => {
    const partial: JournalEntry = { ...planned, selection: [] }
    expect(isLeft(earlierRun(linesOf([runEntry('r1'), partial, end('finished')])))).toBe(false)
  })
})

test('one line a kind says what was carried and why the rest was not', () => {
  const counts = countFates([
    { kind: 'carried', place: { offset: 0, length: 0 } },
    { kind: 'carried', place: { offset: 0, length: 0 } },
    { kind: 'again', attempts: 0, why: 'not_run' },
    { kind: 'again', attempts: 1, why: 'unknown_effect' },
    { kind: 'held', attempts: 1 },
  ])
  const spend = { cellId, attempt: 1, part: 'all', calls: 1 } as const
  const reasons = resumedReasons(counts, [
    { ...spend, microUsd: CALL.subject, unknownCalls: 0, boundMicroUsd: 0 },
    { ...spend, attempt: 2, microUsd: 0, unknownCalls: 1, boundMicroUsd: BOUND.subject },
  ])
  expect(reasons.map(({ code }) => code)).toEqual([
    'carried',
    'again_not_run',
    'again_unknown_effect',
    'held_back',
    'earlier_spend',
  ])
  expect(reasons[0]?.text).toMatch(/^2 of 5 cells are carried over/)
  expect(reasons.at(-1)?.text).toBe(
    'attempts of earlier runs that left no result cost $0.00007, which no record contains; the charge of 1 more call ' +
      'is unknown, at most $0.0001',
  )
  expect(
    resumedReasons(countFates([]), [{ ...spend, microUsd: 0, unknownCalls: 2, boundMicroUsd: null }])[0]?.text,
  ).toBe(
    'attempts of earlier runs that left no result cost $0, which no record contains; the charge of 2 more calls is ' +
      'unknown, which nothing bounds',
  )
})
