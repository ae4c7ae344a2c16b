import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { SCRATCH } from './scratch.mjs'

const digest = (text) => `sha256-jcs:${createHash('sha256').update(text).digest('hex')}`
const FINGERPRINT = digest('fingerprint')

/**
 * A folder with plan.json and records.jsonl: valid records of one campaign, pass or fail, with charges and times that
 * differ; the same ones in every run.
 */
export function writeRecords(size, { variants: arms, seeds: repeats }) {
  const folder = join(SCRATCH, `report-${size}`)
  mkdirSync(folder, { recursive: true })
  const scenarios = Array.from({ length: size / arms / repeats }, (_, i) => ({
    id: `scenario-${String(i).padStart(5, '0')}`,
    digest: digest(`scenario ${i}`),
    family: null,
    split: 'holdout',
    splitDeclared: true,
    mustPass: false,
  }))
  const variants = Array.from({ length: arms }, (_, i) => ({
    id: i === 0 ? 'current' : `candidate-${i}`,
    digest: digest(`variant ${i}`),
    lane: null,
  }))
  const seeds = Array.from({ length: repeats }, (_, i) => i)
  writeFileSync(
    join(folder, 'plan.json'),
    JSON.stringify({ plan: planOf({ variants, scenarios, seeds }), fingerprint: FINGERPRINT }),
  )
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const file = openSync(join(folder, 'records.jsonl'), 'w')
  let text = ''
  for (const variant of variants) {
    for (const scenario of scenarios) {
      for (const seed of seeds) text += `${JSON.stringify(recordOf({ variant, scenario, seed, random }))}\n`
      if (text.length < 2 ** 20) continue
      writeSync(file, text)
      text = ''
    }
  }
  writeSync(file, text)
  closeSync(file)
  return folder
}

function planOf({ variants, scenarios, seeds }) {
  return {
    campaignId: 'triage',
    file: 'evals/triage.eval.ts',
    line: 12,
    variants,
    scenarios,
    seeds,
    scorers: [{ name: 'label', role: 'code', scale: [0, 1], passes: true, lane: null }],
    scorerDigest: digest('scorers'),
    primary: 'label',
    gate: {
      kind: 'pr',
      comparator: 'current',
      primary: 'label',
      atLeast: null,
      margin: null,
      minGain: 0,
      target: null,
      alpha: 0.025,
      candidates: variants.slice(1).map(({ id }) => id),
      guardrails: [],
      onInconclusive: 'warn',
      assurance: 'standard',
      looks: 1,
    },
    coverage: 0.95,
    timeoutMs: 600_000,
    capture: 'on',
    tags: {},
    digestFiles: [],
    definitionDigest: digest('definition'),
  }
}

function recordOf({ variant, scenario, seed, random }) {
  const pass = random() < 0.7
  const usd = Math.round(300 + random() * 500) / 1e6
  const wallMs = Math.round(500 + random() * 1000)
  return {
    schema: 'vitest-campaign/run-record@1',
    runId: '2026-01-02-0304-05-abcdef',
    campaignId: 'triage',
    fingerprint: FINGERPRINT,
    cellId: createHash('sha256').update(`${variant.id} ${scenario.id} ${seed}`).digest('hex').slice(0, 16),
    variantId: variant.id,
    variantDigest: variant.digest,
    scenarioId: scenario.id,
    scenarioDigest: scenario.digest,
    seed,
    split: 'holdout',
    lane: 'openai/gpt-5-mini',
    status: 'scored',
    score: Number(pass),
    pass,
    scores: { label: { value: Number(pass), pass, role: 'code' } },
    scorerDigest: digest('scorers'),
    judges: {},
    failure: null,
    output: { digest: digest(`${variant.id} ${scenario.id} ${seed} output`), preview: 'billing' },
    model: { requested: ['gpt-5-mini'], served: ['gpt-5-mini-2025-08-07'] },
    promptHash: digest(`${variant.id} ${scenario.id}`),
    configHash: variant.digest,
    commit: { sha: '0123456789abcdef0123456789abcdef01234567', dirty: false },
    attempts: 1,
    startedAt: '2026-01-02T03:04:05.000Z',
    recordedAt: null,
    queueMs: 3,
    wallMs,
    providerMs: wallMs - 20,
    tokens: { input: 120, output: 20, reasoning: 0, cacheRead: 0, cacheWrite: 0, known: true },
    cost: { usd, provenance: 'observed', subjectUsd: usd, judgeUsd: 0 },
    calls: { subject: 1, judge: 0, setup: 0, retried: 0, mocked: 0 },
    provenance: 'live',
    integrity: { ok: true, issues: [] },
    metrics: {},
    tags: {},
  }
}
