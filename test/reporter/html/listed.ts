import type { ListedRun } from '../../../src/reporter/html/runs.ts'

const manifest = {
  project: 'evals',
  startedAt: '2026-11-29T12:00:00.000Z',
  endedAt: '2026-11-29T12:01:00.000Z',
  end: 'finished',
  policy: { traffic: 'replay', reason: 'CI' },
  commit: { sha: '0123456789abcdef0123456789abcdef01234567', dirty: false },
  campaigns: [{ campaignId: 'triage', planned: 216, recorded: 216, skipped: false }],
}

const verdict = { word: 'FAIL', gate: 'pr', outcome: 'regress', headline: 'concise is worse than current on label' }

/** Runs as their folders tell of them, newest first: one that failed, one that was killed, one that nobody can read. */
export const LISTED: readonly ListedRun[] = [
  {
    runId: '20261129T120000Z-abc123',
    manifest,
    reports: [
      { name: 'triage', campaignId: 'triage', verdict, files: { html: true, md: true } },
      {
        name: 'a_b-0a1b2c3d',
        campaignId: 'a/b',
        verdict: { word: 'NO VERDICT', gate: 'none', outcome: null, headline: 'no gate is declared' },
        files: { html: false, md: true },
      },
    ],
  },
  {
    runId: '20261128T120000Z-abc122',
    manifest: {
      ...manifest,
      endedAt: null,
      end: null,
      commit: { sha: null, dirty: true },
      campaigns: [{ campaignId: '</script><img src=x onerror=alert(1)>', planned: 4, recorded: 1, skipped: false }],
    },
    reports: [],
  },
  {
    runId: '20261127T120000Z-abc121',
    manifest: null,
    reports: [
      {
        name: 'triage',
        campaignId: 'older',
        verdict: { ...verdict, word: 'PASS', outcome: 'hold', headline: '\u202e<b>no loss' },
        files: { html: true, md: false },
      },
    ],
  },
]
