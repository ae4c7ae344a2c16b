import type { CandidateReport } from '../../src/core/report/candidate-report.ts'
import {
  type CampaignReport,
  type Estimate,
  type FailureCluster,
  REPORT_SCHEMA,
  type StatusCounts,
} from '../../src/core/report/report.ts'
import type { VariantSummary } from '../../src/core/report/variant-report.ts'

export function statusCounts(part: Partial<StatusCounts> = {}): StatusCounts {
  return {
    scored: 0,
    task_fail: 0,
    infra_error: 0,
    judge_error: 0,
    capture_error: 0,
    skipped: 0,
    not_run: 0,
    ...part,
  }
}

export function estimate(
  est: number | null,
  lo: number | null,
  hi: number | null,
  part: Partial<Estimate> = {},
): Estimate {
  return {
    est,
    lo,
    hi,
    level: 0.95,
    se: null,
    df: 23,
    n: 24,
    unit: 'scenario',
    method: 't',
    descriptive: false,
    ...part,
  }
}

export function latency(medianMs: Estimate, source: VariantSummary['latency']['source']): VariantSummary['latency'] {
  const p95Ms =
    medianMs.est === null
      ? medianMs
      : estimate(2_810, 2_350, null, {
          level: 0.9,
          n: 72,
          unit: 'run',
          method: 'order-statistic',
          refused: 'too_few_scenarios',
        })
  const replayed = estimate(null, null, null, { n: 0, method: 'order-statistic', refused: 'replayed' })
  const wall = source === 'live' ? { medianMs, p95Ms } : { medianMs: replayed, p95Ms: replayed }
  return { medianMs, p95Ms, censored: 0, limitMs: 600_000, source, wall }
}

const none = estimate(null, null, null, { refused: 'not_applicable', n: 0 })
const noVariance = { tau2: null, sigma2: null, icc: null, deff: null, nEff: null, refused: 'no_data' } as const

export function variant(id: string, part: Partial<VariantSummary> = {}): VariantSummary {
  return {
    id,
    role: 'variant',
    counts: statusCounts({ scored: 72 }),
    planned: 72,
    coverage: 1,
    mean: estimate(0.712, 0.651, 0.773),
    bounds: { lo: 0.712, hi: 0.712 },
    passRate: estimate(0.712, 0.651, 0.773),
    cost: {
      totalUsd: 0.296,
      knownUsd: 0.296,
      uncapturedCells: 0,
      perCellUsd: 0.00412,
      perSuccessUsd: 0.00578,
      provenance: 'estimated',
    },
    latency: latency(estimate(1234, 1100, 1410, { method: 'order-statistic' }), 'live'),
    tokens: { input: 28_800, output: 4_310, known: true },
    reliability: { k: 3, passAtK: none, passHatK: none, bounds: { passAtK: null, passHatK: null } },
    flakiness: {
      flaky: 0,
      stablePass: 17,
      stableFail: 7,
      unknown: 0,
      share: 0,
      disagreement: none,
      scenarios: [],
    },
    variance: noVariance,
    splits: [],
    overfitGap: null,
    frontier: { class: null, dominatedBy: [], probability: null, refused: 'too_few_scenarios' },
    ...part,
  }
}

export function candidate(id: string, part: Partial<CandidateReport> = {}): CandidateReport {
  return {
    id,
    comparator: 'current',
    outcome: 'hold',
    rule: '9',
    reasons: [],
    difference: estimate(0.0042, -0.026, 0.034),
    completeCase: estimate(0.0042, -0.026, 0.034),
    bounds: { lo: 0.0042, hi: 0.0042, tippingCells: null },
    signFlip: { p: 0.41, pFloor: 5.96e-8, exact: true, resamples: null },
    adjusted: { method: 'none', p: null, intervals: 'none' },
    tests: { mcnemar: null, wilcoxon: null },
    detectableDrop: { drop: 0.042 },
    unseenLoss: { lost: 0, units: 24, upperRate: 0.117 },
    atLeast: null,
    mustPass: { scenarios: 0, broken: [] },
    guardrails: [],
    boundedLower: null,
    variance: noVariance,
    power: {
      target: null,
      unit: 'scenario',
      requiredScenarios: null,
      requiredAtAnySeeds: null,
      requiredUsd: null,
      seedsNarrowBy: null,
      advice: null,
      refused: 'not_applicable',
    },
    costRatio: { perCell: none, perSuccess: none },
    latencyRatio: { clock: 'provider', median: none, p95: none },
    flakinessChange: none,
    worst: [],
    changed: { worse: 3, better: 4, same: 17, missing: 0 },
    ...part,
  }
}

export function report(part: Partial<CampaignReport> = {}): CampaignReport {
  return {
    schema: REPORT_SCHEMA,
    campaignId: 'triage',
    file: 'evals/triage.eval.ts',
    line: 12,
    verdict: {
      word: 'PASS',
      gate: 'pr',
      outcome: 'hold',
      rule: '9',
      red: false,
      exitCode: 0,
      headline: 'no loss of concise against current on label was shown (24 scenarios, 3 seeds)',
      reasons: [],
    },
    confirmatory: false,
    prereg: null,
    looks: { used: 1, allowed: 1, exhausted: false, spent: null },
    design: {
      comparator: 'current',
      accepted: null,
      candidates: ['concise'],
      primary: 'label',
      scale: [0, 1],
      scenarios: 24,
      deciding: 24,
      families: null,
      seeds: 3,
      splits: { holdout: 24 },
      splitDeclared: false,
      margin: 0.03,
      minGain: 0,
      target: 0.03,
      alpha: 0.025,
      alphaOfLook: 0.025,
      guardrails: [],
      assurance: 'standard',
      onInconclusive: 'warn',
      coverageFloor: 0.95,
    },
    fingerprint: { campaign: 'sha256-jcs:c', records: 'sha256-jcs:r', report: 'sha256-jcs:p' },
    coverage: { planned: 144, counts: statusCounts({ scored: 144 }), reasons: {} },
    variants: [variant('current', { role: 'comparator' }), variant('concise', { role: 'candidate' })],
    candidates: [candidate('concise')],
    judges: [],
    slices: [],
    integrity: { backend: 'real', issues: [] },
    evidence: { live: 144, replayed: 0, mixed: 0, carried: 0, silent: 0, recordedFrom: null, recordedTo: null },
    failures: [],
    warnings: [],
    actions: [],
    ...part,
  }
}

const base = report()

export const REGRESS = report({
  verdict: {
    word: 'FAIL',
    gate: 'pr',
    outcome: 'regress',
    rule: '3',
    red: true,
    exitCode: 1,
    headline: 'concise is worse than current on label: -6.4 pp (95 % CI -10.9 to -1.9), 24 scenarios x 3 seeds',
    reasons: [{ code: 'harm_shown', text: 'the whole interval of concise lies below zero' }],
  },
  design: { ...base.design, candidates: ['concise', 'mini-model', 'tool-first'] },
  coverage: {
    planned: 288,
    counts: statusCounts({ scored: 270, task_fail: 10, infra_error: 5, not_run: 3 }),
    reasons: { 'provider-fault': 5, budget: 3 },
  },
  variants: [
    variant('current', { role: 'comparator' }),
    variant('concise', {
      role: 'candidate',
      mean: estimate(0.648, 0.58, 0.716),
      passRate: estimate(0.648, 0.58, 0.716),
    }),
    variant('mini-model', {
      role: 'candidate',
      cost: {
        totalUsd: null,
        knownUsd: 0.12,
        uncapturedCells: 9,
        perCellUsd: null,
        perSuccessUsd: null,
        provenance: 'uncaptured',
        refused: 'uncaptured',
      },
      tokens: { input: 21_000, output: 3_900, known: false },
    }),
    variant('tool-first', {
      role: 'candidate',
      counts: statusCounts({ scored: 60, task_fail: 4, infra_error: 5, not_run: 3 }),
      coverage: 64 / 72,
      latency: latency(estimate(null, null, null, { refused: 'no_data' }), 'none'),
    }),
  ],
  candidates: [
    candidate('concise', {
      outcome: 'regress',
      rule: '3',
      difference: estimate(-0.064, -0.109, -0.019),
      completeCase: estimate(-0.064, -0.109, -0.019),
      bounds: { lo: -0.064, hi: -0.064, tippingCells: null },
      signFlip: { p: 0.0021, pFloor: 5.96e-8, exact: false, resamples: 10_000 },
      adjusted: { method: 'maxT', p: 0.006, intervals: 'bonferroni' },
      mustPass: { scenarios: 6, broken: [{ scenario: 'refund/double-charge', failedSeeds: [0, 2] }] },
      worst: [
        {
          scenario: 'refund/partial-currency',
          comparator: 1,
          candidate: 0,
          delta: -1,
          comparatorSeeds: '3/3',
          candidateSeeds: '0/3',
          flaky: { comparator: false, candidate: false },
        },
        {
          scenario: 'search/ambiguous-date',
          comparator: 1,
          candidate: 0.333,
          delta: -0.667,
          comparatorSeeds: '3/3',
          candidateSeeds: '1/3',
          flaky: { comparator: false, candidate: false },
        },
        {
          scenario: 'booking/two-passengers',
          comparator: 0.667,
          candidate: 0.333,
          delta: -0.333,
          comparatorSeeds: '2/3',
          candidateSeeds: '1/3',
          flaky: { comparator: false, candidate: false },
        },
      ],
      changed: { worse: 9, better: 2, same: 13, missing: 0 },
    }),
    candidate('mini-model'),
    candidate('tool-first', {
      outcome: 'underpowered',
      rule: '10',
      difference: estimate(-0.001, -0.164, 0.162),
      completeCase: estimate(0.011, -0.061, 0.083, { n: 19 }),
      bounds: { lo: -0.08, hi: 0.09, tippingCells: 4 },
      detectableDrop: { drop: 0.19 },
    }),
  ],
  evidence: {
    live: 0,
    replayed: 285,
    mixed: 0,
    carried: 0,
    silent: 0,
    recordedFrom: '2026-11-02T10:00:00Z',
    recordedTo: '2026-11-05T10:00:00Z',
  },
  failures: [
    {
      class: 'timeout',
      mode: 'deadline',
      ...cluster(7, ['the cell ran into its deadline of 60 s', 'the socket closed'], ['0123456789abcdef']),
      variants: [],
    },
    { class: 'format_drift', mode: null, ...cluster(3, [], ['fedcba9876543210']), variants: [] },
  ],
  integrity: {
    backend: 'real',
    issues: [{ code: 'model_alias', severity: 'warn', count: 288, example: 'gpt-5-mini is a floating name' }],
  },
})

/** Cells that failed with these messages, one cell each; the first as often as is left of `count`. */
export function cluster(count: number, texts: readonly string[], cells: readonly string[] = []): FailureCluster {
  const messages = texts.map((text, at) => ({ text, count: at === 0 ? count - texts.length + 1 : 1 }))
  return { count, example: texts[0] ?? null, messages, distinct: texts.length, cells }
}

export const HOLD = base

export const UNDERPOWERED = report({
  verdict: {
    word: 'NO VERDICT',
    gate: 'pr',
    outcome: 'underpowered',
    rule: '2b',
    red: false,
    exitCode: 0,
    headline: '4 scenarios are too few to decide: 6 are needed',
    reasons: [],
  },
  design: { ...base.design, scenarios: 4, seeds: 1, margin: null, target: null, splits: { holdout: 4 } },
  coverage: { planned: 8, counts: statusCounts({ scored: 8 }), reasons: {} },
  variants: ['current', 'concise'].map((id) =>
    variant(id, {
      counts: statusCounts({ scored: 4 }),
      planned: 4,
      mean: estimate(0.75, 0, 1, { n: 4, df: 3, descriptive: true }),
    }),
  ),
  candidates: [
    candidate('concise', {
      outcome: 'underpowered',
      rule: '2b',
      difference: estimate(-0.25, -1, 0.546, { n: 4, df: 3, descriptive: true }),
      signFlip: { p: 0.5, pFloor: 0.0625, exact: true, resamples: null },
      detectableDrop: { drop: null, refused: 'too_few_scenarios' },
      worst: [
        {
          scenario: 'refund',
          comparator: 1,
          candidate: 0,
          delta: -1,
          comparatorSeeds: '1/1',
          candidateSeeds: '0/1',
          flaky: { comparator: false, candidate: false },
        },
      ],
      changed: { worse: 1, better: 0, same: 3, missing: 0 },
    }),
  ],
  evidence: { live: 8, replayed: 0, mixed: 0, carried: 0, silent: 0, recordedFrom: null, recordedTo: null },
})

export const NO_GATE = report({
  verdict: {
    word: 'NO VERDICT',
    gate: 'none',
    outcome: null,
    rule: null,
    red: false,
    exitCode: 0,
    headline: 'current scored 0.712 on label (24 scenarios, 3 seeds); no gate is declared',
    reasons: [],
  },
  design: { ...base.design, comparator: null, candidates: [], margin: null, target: null },
  coverage: { planned: 72, counts: statusCounts({ scored: 72 }), reasons: {} },
  variants: [variant('current')],
  candidates: [],
  evidence: { live: 72, replayed: 0, mixed: 0, carried: 0, silent: 0, recordedFrom: null, recordedTo: null },
})

export const INVALID = report({
  verdict: {
    word: 'FAIL',
    gate: 'pr',
    outcome: 'invalid',
    rule: '1',
    red: true,
    exitCode: 2,
    headline: 'not one cell of concise was scored: there is nothing to compare',
    reasons: [{ code: 'empty_arm', text: 'concise has no scored cell' }],
  },
  coverage: { planned: 144, counts: statusCounts({ scored: 72, infra_error: 72 }), reasons: { 'worker-lost': 72 } },
  variants: [
    variant('current', { role: 'comparator' }),
    variant('concise', {
      role: 'candidate',
      counts: statusCounts({ infra_error: 72 }),
      coverage: 0,
      mean: estimate(null, null, null, { refused: 'no_data' }),
      passRate: estimate(null, null, null, { refused: 'no_data' }),
      cost: {
        totalUsd: null,
        knownUsd: 0,
        uncapturedCells: 72,
        perCellUsd: null,
        perSuccessUsd: null,
        provenance: 'uncaptured',
        refused: 'no_data',
      },
      latency: latency(estimate(null, null, null, { refused: 'no_data' }), 'none'),
      tokens: { input: null, output: null, known: false },
    }),
  ],
  candidates: [
    candidate('concise', {
      outcome: 'invalid',
      rule: '1',
      difference: estimate(null, null, null, { refused: 'no_data' }),
      completeCase: null,
      bounds: null,
      signFlip: null,
      detectableDrop: { drop: null, refused: 'no_data' },
      changed: { worse: 0, better: 0, same: 0, missing: 24 },
    }),
  ],
  evidence: { live: 72, replayed: 0, mixed: 0, carried: 0, silent: 0, recordedFrom: null, recordedTo: null },
})

export const CAPTURE_ERRORS = report({
  verdict: {
    ...base.verdict,
    word: 'FAIL',
    red: true,
    exitCode: 2,
    outcome: 'invalid',
    rule: '1',
    headline: '3 cells called no provider: what they measured is unknown',
  },
  coverage: { planned: 144, counts: statusCounts({ scored: 141, capture_error: 3 }), reasons: {} },
  integrity: {
    backend: 'stub',
    issues: [
      {
        code: 'no_provider_calls',
        severity: 'error',
        count: 3,
        example: 'the subject of refund made no provider call',
      },
      {
        code: 'stub_backend',
        severity: 'error',
        count: 141,
        example: 'http://localhost:8080 answers as no provider does',
      },
    ],
  },
  evidence: {
    live: 100,
    replayed: 44,
    mixed: 0,
    carried: 0,
    silent: 0,
    recordedFrom: '2026-11-02T10:00:00Z',
    recordedTo: '2026-11-02T11:00:00Z',
  },
})

export const AT_LEAST = report({
  verdict: {
    ...base.verdict,
    word: 'FAIL',
    red: true,
    exitCode: 1,
    outcome: 'regress',
    rule: '3',
    headline: 'current scores below 0.900 on label: 0.712 (95 % CI 0.651 to 0.773)',
  },
  design: { ...base.design, comparator: null, candidates: ['current'], margin: null },
  variants: [variant('current', { role: 'candidate' })],
  candidates: [
    candidate('current', {
      outcome: 'regress',
      difference: null,
      completeCase: null,
      bounds: null,
      signFlip: null,
      detectableDrop: { drop: null, refused: 'not_applicable' },
      atLeast: { threshold: 0.9, outcome: 'regress', mean: estimate(0.712, 0.651, 0.773) },
      worst: [
        {
          scenario: 'refund',
          comparator: null,
          candidate: 0,
          delta: null,
          comparatorSeeds: '',
          candidateSeeds: '0/3',
          flaky: { comparator: false, candidate: false },
        },
      ],
    }),
  ],
})

export const REPORTS = {
  regress: REGRESS,
  hold: HOLD,
  underpowered: UNDERPOWERED,
  'no gate': NO_GATE,
  invalid: INVALID,
  'capture errors': CAPTURE_ERRORS,
  'at least': AT_LEAST,
} as const
