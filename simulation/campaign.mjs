import { cellIdOf, digestOf } from '../dist/core/campaign/identity.js'
import { RUN_RECORD_SCHEMA } from '../dist/core/record/record.js'
import { buildReport } from '../dist/core/report/build.js'

const digest = (name) => digestOf({ name })
const SHARED = {
  schema: RUN_RECORD_SCHEMA,
  runId: 'simulated',
  fingerprint: digest('fingerprint'),
  split: 'holdout',
  lane: null,
  scorerDigest: digest('scorers'),
  judges: {},
  model: { requested: [], served: [] },
  promptHash: null,
  configHash: digest('config'),
  commit: { sha: null, dirty: false },
  startedAt: null,
  recordedAt: null,
  queueMs: 0,
  wallMs: null,
  providerMs: null,
  tokens: { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: false },
  cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null },
  calls: { subject: 1, judge: 0, setup: 0, retried: 0, mocked: 0 },
  provenance: 'live',
  integrity: { ok: true, issues: [] },
  metrics: {},
  tags: {},
}
const SCORED = { status: 'scored', attempts: 1, failure: null }
const LOST = {
  status: 'infra_error',
  reason: 'worker-lost',
  attempts: 1,
  score: null,
  pass: null,
  scores: {},
  failure: { class: 'integration_provider_failure', mode: 'worker_lost' },
  output: null,
}

/**
 * A campaign whose scores are still to come. `report` builds the report of one draw through the package's own builder:
 * `scores[variant][scenario][seed]`, null for a cell that was lost.
 */
export function campaignOf({ variants = 2, scenarios, seeds, gate, mustPass = 0 }) {
  const named = Array.from({ length: variants }, (_, i) => ({ id: i === 0 ? 'base' : `c${i}`, lane: null }))
  const planned = {
    variants: named.map((variant) => ({ ...variant, digest: digest(variant.id) })),
    scenarios: Array.from({ length: scenarios }, (_, i) => ({
      id: `s${String(i).padStart(4, '0')}`,
      digest: digest(`scenario ${i}`),
      family: null,
      split: 'holdout',
      splitDeclared: true,
      mustPass: i < mustPass,
    })),
    seeds: Array.from({ length: seeds }, (_, i) => i),
  }
  const comparator = gate.atLeast === undefined ? 'base' : null
  const plan = {
    ...planned,
    file: 'simulation',
    line: null,
    scorers: [{ name: 'score', role: 'code', scale: [0, 1], passes: false, lane: null }],
    scorerDigest: SHARED.scorerDigest,
    primary: 'score',
    gate: {
      kind: 'pr',
      comparator,
      primary: 'score',
      atLeast: null,
      margin: null,
      minGain: 0,
      target: null,
      alpha: 0.025,
      candidates: planned.variants.map(({ id }) => id).filter((id) => id !== comparator),
      guardrails: [],
      onInconclusive: 'warn',
      assurance: 'standard',
      looks: 1,
      ...gate,
    },
    coverage: 0.95,
    timeoutMs: 600_000,
    capture: 'off',
    tags: {},
    digestFiles: [],
    definitionDigest: digest('definition'),
  }
  const cells = planned.variants.map((variant) =>
    planned.scenarios.map((scenario) =>
      planned.seeds.map((seed) => ({
        ...SHARED,
        cellId: cellIdOf({ campaignId: 'simulated', variantId: variant.id, scenarioId: scenario.id, seed }),
        variantId: variant.id,
        variantDigest: variant.digest,
        scenarioId: scenario.id,
        scenarioDigest: scenario.digest,
        seed,
        output: { digest: digest(`${variant.id} ${scenario.id} ${seed}`), preview: '' },
      })),
    ),
  )
  return {
    report(scores, number) {
      // Its own name: each campaign draws its own sign flips.
      const campaignId = `simulated ${number}`
      const records = scores.flatMap((arm, v) =>
        arm.flatMap((row, s) =>
          row.map((score, k) => {
            const cell = cells[v][s][k]
            if (score === null) return { ...cell, campaignId, ...LOST }
            const own = { score: { value: score, pass: null, role: 'code' } }
            return { ...cell, campaignId, ...SCORED, score, pass: null, scores: own }
          }),
        ),
      )
      return buildReport({ plan: { ...plan, campaignId }, fingerprint: SHARED.fingerprint, records, problems: [] })
    },
  }
}
