import { describe, expect, it } from 'vitest'
import { type Coordinates, type Given, idDigest, isCandidate, reportOf, warningCodes } from './records.ts'

describe('variants', () => {
  it('one charge nobody knows makes the total unknown and keeps the rest as a lower bound', () => {
    const known = { usd: 0.25, provenance: 'estimated', subjectUsd: 0.25, judgeUsd: 0 } as const
    const unknown = { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null } as const
    const { variants } = reportOf({ scenarios: 4 }, (cell, { scenario }) => ({
      cost: isCandidate(cell) && scenario === 0 ? unknown : known,
    }))
    const [current, concise] = variants
    expect(current?.cost).toMatchObject({ totalUsd: 1, perCellUsd: 0.25, perSuccessUsd: 0.25, provenance: 'estimated' })
    expect(concise?.cost).toEqual({
      totalUsd: null,
      perCellUsd: null,
      perSuccessUsd: null,
      knownUsd: 0.75,
      uncapturedCells: 1,
      provenance: 'uncaptured',
      refused: 'uncaptured',
    })
  })

  it('16: a charge of 0 for tokens that were counted is unknown, not free; a price of 0 is', () => {
    const zero = (provenance: 'observed' | 'estimated') => ({
      cost: { usd: 0, provenance, subjectUsd: 0, judgeUsd: 0 },
    })
    const observed = reportOf({}, () => zero('observed'))
    expect(observed.variants[0]?.cost).toMatchObject({ totalUsd: null, provenance: 'uncaptured' })
    expect(warningCodes(observed)).toContain('zero_cost_with_tokens')
    expect(reportOf({}, () => zero('estimated')).variants[0]?.cost).toMatchObject({
      totalUsd: 0,
      provenance: 'estimated',
    })
  })

  it('a success costs what the failures around it cost too; none succeeded is no number', () => {
    const cost = { usd: 0.1, provenance: 'observed', subjectUsd: 0.1, judgeUsd: 0 } as const
    const { variants } = reportOf({ scenarios: 4 }, (cell, { scenario }) => ({
      cost,
      score: isCandidate(cell) || scenario > 0 ? 0 : 1,
    }))
    expect(variants[0]?.cost).toMatchObject({ totalUsd: 0.4, perSuccessUsd: 0.4 })
    expect(variants[1]?.cost).toMatchObject({ totalUsd: 0.4, perSuccessUsd: null, refused: 'no_successes' })
  })

  it('cells that never ran cost nothing', () => {
    const never: Given = {
      status: 'not_run',
      reason: 'budget',
      cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null },
    }
    const { variants } = reportOf({ scenarios: 4 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? never : 1,
    )
    expect(variants[1]?.cost).toMatchObject({ totalUsd: 0.0012, uncapturedCells: 0 })
  })

  describe('latency', () => {
    const of =
      (replayed: (cell: Coordinates) => boolean) =>
      (cell: Coordinates, { scenario }: { scenario: number }): Given => ({
        wallMs: replayed(cell) ? null : 1000 + scenario,
        providerMs: 500 + scenario,
        provenance: replayed(cell) ? 'replayed' : 'live',
      })

    it('is what the provider needed, the same live and replayed, with ranks for bounds', () => {
      const live = reportOf(
        { scenarios: 9 },
        of(() => false),
      ).variants[0]?.latency
      expect(live).toMatchObject({
        source: 'live',
        medianMs: { est: 504, lo: 501, hi: 507, method: 'order-statistic' },
      })
      const replayed = reportOf(
        { scenarios: 9 },
        of(() => true),
      ).variants[0]?.latency
      expect(replayed).toMatchObject({ source: 'recorded', medianMs: live?.medianMs, p95Ms: live?.p95Ms })
    })

    it('by the wall clock is there only where every cell was live, and never in the provider’s place', () => {
      const live = reportOf(
        { scenarios: 9 },
        of(() => false),
      )
      expect(live.variants.map(({ latency }) => latency.wall.medianMs.est)).toEqual([1004, 1004])
      const partly = reportOf({ scenarios: 9 }, of(isCandidate))
      for (const { latency } of partly.variants) {
        expect(latency.medianMs.est).toBe(504)
        expect(latency.wall.medianMs).toMatchObject({ est: null, refused: 'replayed' })
        expect(latency.wall.p95Ms).toMatchObject({ est: null, refused: 'replayed' })
      }
    })

    it('of too few scenarios has no bounds, of no timed call no value', () => {
      const two = reportOf(
        { scenarios: 2 },
        of(() => false),
      )
      expect(two.variants[0]?.latency.medianMs).toMatchObject({ lo: null, refused: 'too_few_scenarios' })
      expect(reportOf({}, () => ({ wallMs: null, providerMs: null })).variants[0]?.latency).toMatchObject({
        source: 'none',
        medianMs: { est: null, refused: 'no_data' },
      })
    })
  })

  it('a deadline never becomes a latency', () => {
    const { variants } = reportOf({ scenarios: 9 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 8
        ? { status: 'task_fail', failure: { class: 'timeout' }, providerMs: 600_000 }
        : 1,
    )
    expect(variants[1]?.latency.medianMs).toMatchObject({ est: null, hi: null })
  })

  it('tokens nobody counted are null, and a sum with an unknown part says so', () => {
    const none = { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: false }
    const { variants } = reportOf({ scenarios: 3 }, (cell, { scenario }) =>
      isCandidate(cell) ? { tokens: none } : scenario ? 1 : { tokens: none },
    )
    expect(variants[0]?.tokens).toEqual({ input: 240, output: 40, known: false })
    expect(variants[1]?.tokens).toEqual({ input: null, output: null, known: false })
  })
})

describe('evidence', () => {
  const stub = { code: 'stub_backend', severity: 'error', message: 'a local stub answered' } as const
  const stubbed: Given = { status: 'capture_error', integrity: { ok: false, issues: [stub] } }
  const silent = { subject: 0, judge: 0, setup: 0, retried: 0, mocked: 0 }

  it('says what stood behind the numbers', () => {
    expect(reportOf({}, () => 1).integrity).toEqual({ backend: 'real', issues: [] })
    expect(reportOf({}, () => ({ calls: silent })).integrity.backend).toBe('none')
    const mixed = reportOf({ scenarios: 40 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? stubbed : 1,
    )
    expect(mixed.integrity).toEqual({
      backend: 'mixed',
      issues: [{ code: 'stub_backend', severity: 'error', count: 1, example: 'a local stub answered' }],
    })
    expect(warningCodes(mixed)).toEqual(expect.arrayContaining(['capture_error', 'mixed_backend']))
  })

  it('a campaign answered by a stub is invalid, not a quality of 0', () => {
    const all = reportOf({}, () => stubbed)
    expect(all.integrity.backend).toBe('stub')
    expect(all.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid' })
    expect(all.variants[0]?.mean).toMatchObject({ est: null, refused: 'no_data' })
  })

  it('counts live and replayed cells and dates the recordings', () => {
    const { evidence } = reportOf({ scenarios: 4 }, (cell, { scenario }) =>
      isCandidate(cell)
        ? scenario === 0
          ? { status: 'not_run', reason: 'budget' }
          : { provenance: 'replayed', recordedAt: `2026-01-0${scenario}T00:00:00.000Z` }
        : 1,
    )
    expect(evidence).toEqual({
      live: 4,
      replayed: 3,
      mixed: 0,
      carried: 0,
      silent: 0,
      recordedFrom: '2026-01-01T00:00:00.000Z',
      recordedTo: '2026-01-03T00:00:00.000Z',
    })
  })

  it('a cell that called no provider is neither live nor replayed', () => {
    const { evidence } = reportOf({ scenarios: 4 }, (cell) => (isCandidate(cell) ? { calls: silent } : 1))
    expect(evidence).toMatchObject({ live: 4, silent: 4 })
  })

  it('seeds without one scored output say nothing about seeds', () => {
    const failed = reportOf({ seeds: 3 }, () => ({ status: 'task_fail', output: null }))
    expect(warningCodes(failed)).not.toContain('seeds_identical')
    // All return null and no scorer liked to look at it: the same bytes, and nothing measured.
    const empty = { digest: idDigest('null'), preview: 'null' }
    const unscored = reportOf({ seeds: 3 }, () => ({ status: 'judge_error', output: empty }))
    expect(warningCodes(unscored)).not.toContain('seeds_identical')
  })

  it('says that seeds add nothing when they gave the same bytes everywhere', () => {
    const same = (cell: Coordinates): Given => ({
      output: { digest: idDigest(`${cell.variant} ${cell.scenario}`), preview: '' },
    })
    expect(warningCodes(reportOf({ seeds: 3 }, same))).toContain('seeds_identical')
    expect(warningCodes(reportOf({ seeds: 1 }, same))).not.toContain('seeds_identical')
    const once = reportOf({ seeds: 3 }, (cell, { scenario, seed }) => (scenario === 5 && seed === 2 ? 1 : same(cell)))
    expect(warningCodes(once)).not.toContain('seeds_identical')
  })

  it('warns where one arm lost many more cells than the other', () => {
    const lost = reportOf({ scenarios: 100 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 4 ? { status: 'infra_error' } : 1,
    )
    expect(warningCodes(lost)).toContain('missing_differs')
  })

  it('lists the scenarios that lost most, with their seeds', () => {
    const { candidates } = reportOf({ scenarios: 8, seeds: 2 }, (cell, { scenario, seed }) =>
      isCandidate(cell) && (scenario === 3 || (scenario === 5 && seed === 0)) ? 0 : 1,
    )
    expect(candidates[0]?.worst).toEqual([
      {
        scenario: 's04',
        comparator: 1,
        candidate: 0,
        delta: -1,
        comparatorSeeds: '2/2',
        candidateSeeds: '0/2',
        flaky: { comparator: false, candidate: false },
      },
      {
        scenario: 's06',
        comparator: 1,
        candidate: 0.5,
        delta: -0.5,
        comparatorSeeds: '2/2',
        candidateSeeds: '1/2',
        flaky: { comparator: false, candidate: true },
      },
    ])
  })
})
