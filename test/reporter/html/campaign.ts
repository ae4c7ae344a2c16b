import type { CampaignPlan, PlannedScorer } from '../../../src/core/campaign/plan.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignMaterial, CellTraffic } from '../../../src/core/report/material.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import type { Exchange } from '../../../src/core/traffic/exchange.ts'
import { type Coordinates, inputOf, type PlanParts, planOf, recordsOf } from '../../core/report/records.ts'

export interface Campaign {
  readonly report: CampaignReport
  readonly material: CampaignMaterial
}

/** A campaign computed from its records, as a run computes it. */
export function campaignOf(
  plan: CampaignPlan,
  records: readonly RunRecord[],
  traffic: (record: RunRecord) => CellTraffic = () => ({ parts: [], notes: [] }),
): Campaign {
  return {
    report: buildReport(inputOf(plan, records)),
    material: { runId: '20261129T120000Z-abc123', plan, accepted: null, records: () => records, traffic },
  }
}

const SCORERS: readonly PlannedScorer[] = [
  { name: 'label', role: 'code', scale: [0, 1], passes: true, lane: null },
  { name: 'tone', role: 'judge', scale: [0, 1], passes: false, lane: null },
  { name: 'tone-again', role: 'judge', scale: [0, 1], passes: false, lane: null, rates: 'tone' },
]

const TOPICS = [
  'refund/partial-currency',
  'refund/double-charge',
  'refund/gift-card',
  'search/ambiguous-date',
  'search/empty',
  'booking/two-passengers',
  'booking/infant',
  'account/locked-out',
  'account/two-accounts',
  'delivery/late-parcel',
  'delivery/wrong-address',
  'delivery/neighbour',
]

/** A fixed number in [0, 1) for a cell: the same on every machine. */
function chance(text: string): number {
  let hash = 2166136261
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619)
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

const SKILL: { readonly [variant: string]: number } = { current: 0.86, concise: 0.42, haiku: 0.84 }
const PRICE: { readonly [variant: string]: number } = { current: 0.0041, concise: 0.0022, haiku: 0.0009 }

/** Every section of the page has something to show: losses, flaky and missing cells, judges, a timeout, two attempts. */
export function richCampaign(): Campaign {
  const parts: PlanParts = {
    campaignId: 'triage',
    variants: ['current', 'concise', 'haiku'],
    scenarios: Array.from({ length: 24 }, (_, i) => ({
      id: i < 12 ? (TOPICS[i] ?? '') : `${TOPICS[i - 12]}-2`,
      mustPass: i === 1,
    })),
    seeds: 3,
    gate: {
      margin: 0.03,
      guardrails: [
        { name: 'cost', endpoint: 'cost', ratio: 1.1, diff: null, require: 'not-violated' },
        { name: 'latency', endpoint: 'latency', ratio: 1.2, diff: null, require: 'not-violated' },
      ],
    },
  }
  const plan: CampaignPlan = { ...planOf(parts), scorers: SCORERS }
  const records = recordsOf(plan, (cell, at) => richRecord(cell, at.scenario))
  return campaignOf(plan, records, richTraffic)
}

function richRecord({ variant, scenario, seed }: Coordinates, at: number): Partial<RunRecord> {
  const luck = chance(`${variant} ${scenario} ${seed}`)
  const ease = chance(scenario) * 0.5 - 0.25
  const good = at === 1 ? variant !== 'concise' : luck < (SKILL[variant] ?? 0.5) + ease
  const ms = 400 + 2_600 * chance(`time ${variant} ${scenario} ${seed}`) ** 3 * (variant === 'haiku' ? 0.5 : 1)
  const usd = (PRICE[variant] ?? 0) * (0.7 + 0.6 * chance(`usd ${variant} ${scenario} ${seed}`))
  const timed = {
    wallMs: ms + 40,
    providerMs: ms,
    tags: { language: at % 3 === 0 ? 'de' : 'en', topic: scenario.split('/')[0] ?? '' },
  }
  if (variant === 'haiku' && at === 9 && seed > 0) return { status: 'infra_error', reason: 'provider-fault', ...timed }
  if (variant === 'haiku' && at === 10 && seed === 0) return { status: 'not_run', reason: 'budget' }
  if (variant === 'concise' && at === 4 && seed === 2) {
    return {
      status: 'task_fail',
      failure: { class: 'timeout', mode: 'deadline', message: 'the cell ran into its deadline of 600 s' },
      ...timed,
    }
  }
  const tone = Math.round((good ? 0.7 + 0.3 * luck : 0.2 + 0.3 * luck) * 4) / 4
  const again = chance(`again ${variant} ${scenario} ${seed}`) < 0.9 ? tone : Math.min(1, tone + 0.25)
  return {
    score: good ? 1 : 0,
    attempts: variant === 'current' && at === 3 && seed === 0 ? 2 : 1,
    scores: {
      label: {
        value: good ? 1 : 0,
        pass: good,
        role: 'code',
        ...(good ? {} : { rationale: 'expected "billing", got "returns"' }),
      },
      tone: {
        value: tone,
        pass: null,
        role: 'judge',
        rationale: good
          ? 'Names the team and says what happens next. Polite, no filler.'
          : 'The label is there, but the answer blames the customer in its first sentence.',
      },
      'tone-again': { value: again, pass: null, role: 'judge' },
    },
    judges: { tone: { model: 'gpt-5', digest: plan().scorerDigest } },
    output: {
      digest: digestOf(good ? 'billing' : `returns ${variant}`),
      preview: good
        ? 'billing'
        : `returns\n\nThe parcel came back because the address was not complete (${variant}, seed ${seed}).`,
    },
    cost: { usd, provenance: 'estimated', subjectUsd: usd, judgeUsd: 0 },
    ...timed,
  }
}

const plan = (): CampaignPlan => planOf({ scenarios: 1 })

function digestOf(text: string): `sha256-jcs:${string}` {
  const hex = Math.floor(chance(text) * 2 ** 32).toString(16)
  return `sha256-jcs:${hex.padStart(64, '0')}`
}

/** What stands behind a cell of the rich campaign: a stream, and for one of them what went wrong before. */
export function richTraffic({ cellId, variantId, scenarioId, seed, attempts, status }: RunRecord): CellTraffic {
  if (attempts === 0) return { parts: [], notes: [] }
  const ask: Exchange = {
    role: 'subject',
    key: '0f53f730b2f14ac8e7fdd839b5e24352',
    ordinal: 0,
    request: {
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      headers: [
        ['authorization', '[redacted:header]'],
        ['content-type', 'application/json'],
      ],
      body: {
        text: `{"model":"gpt-5-mini","seed":${seed},"messages":[{"role":"system","content":"Which team solves this ticket?"},{"role":"user","content":"${scenarioId}"}],"temperature":1.0}`,
      },
    },
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers: [['content-type', 'text/event-stream']],
      body: { text: `data: {"choices":[{"delta":{"content":"${variantId}"}}]}\n\ndata: [DONE]\n\n` },
      cuts: [
        [52, 310],
        [10, 12],
        [14, 180],
      ],
      end: { kind: 'complete' },
    },
    source: 'live',
    startedAt: '2026-11-29T12:00:01.000Z',
    ttfbMs: 310,
    totalMs: 502,
    redactions: [{ rule: 'header', count: 1 }],
    retried: attempts > 1 ? 1 : 0,
  }
  const fault: Exchange = {
    ...ask,
    outcome: { kind: 'fault', phase: 'headers', code: 'UND_ERR_SOCKET', message: 'other side closed' },
    ttfbMs: null,
    totalMs: 90,
    redactions: [],
  }
  const broken: Exchange = {
    ...ask,
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers: [],
      body: { base64: '/////w==' },
      cuts: [],
      end: { kind: 'broken', code: 'ECONNRESET', message: 'read ECONNRESET' },
    },
  }
  const file = (attempt: number): string => `raw/${cellId}.${attempt}.jsonl`
  const last = {
    file: file(attempts),
    lines: [1],
    attempt: attempts,
    exchanges: status === 'infra_error' ? [broken] : [ask],
  }
  const first = { file: file(1), lines: [1], attempt: 1, exchanges: [fault] }
  return { parts: attempts > 1 ? [first, last] : [last], notes: [] }
}

/** Two variants, six scenarios and two seeds, with something of everything: the page of it is a golden file. */
export function smallCampaign(): Campaign {
  const { material } = richCampaign()
  const full: CampaignPlan = {
    ...planOf({
      campaignId: 'triage',
      scenarios: TOPICS.slice(0, 6).map((id, i) => ({ id, mustPass: i === 1 })),
      seeds: 2,
      gate: { margin: 0.1 },
    }),
    scorers: SCORERS,
  }
  const rich = new Map([...material.records()].map((record) => [record.cellId, record]))
  const records = recordsOf(full, () => 1).map((record) => {
    const { status, reason, score, pass, scores, failure, output, attempts, cost, tags, wallMs, providerMs } =
      rich.get(record.cellId) ?? record
    return {
      ...record,
      ...{ status, score, pass, scores, failure, output, attempts, cost, tags, wallMs, providerMs },
      ...(reason === undefined ? {} : { reason }),
    }
  })
  const told = records.find(({ score }) => score === 0)?.cellId
  return campaignOf(full, records, (record) =>
    record.cellId === told || record.attempts > 1 ? richTraffic(record) : { parts: [], notes: [] },
  )
}

/** 500 scenarios in two variants with five seeds: 5,000 cells, each with an answer, a reason and an exchange. */
export function largeCampaign(): Campaign {
  const plan = planOf({ campaignId: 'large', scenarios: 500, seeds: 5, gate: { margin: 0.03 } })
  const records = recordsOf(plan, ({ variant, scenario, seed }, at) => {
    const luck = chance(`${variant} ${scenario} ${seed}`)
    const good = luck < (variant === 'current' ? 0.8 : 0.74)
    return {
      score: good ? 1 : 0,
      scores: { label: { value: good ? 1 : 0, pass: good, role: 'code', rationale: 'because '.repeat(10) } },
      output: { digest: digestOf(`${variant} ${scenario} ${seed}`), preview: `${scenario} ${seed} `.repeat(40) },
      tags: { third: String(at.scenario % 3) },
    }
  })
  return campaignOf(plan, records, richTraffic)
}

/** A campaign that says `text` wherever a user, a model or a provider can say something, and `id` in its ids. */
export function sayingCampaign(text: string, id = text.replace(/[\p{Cc}\p{Cs}]/gu, '.')): Campaign {
  const name = (suffix: string): string => `${id}${suffix}`.slice(0, 200)
  const plan = {
    ...planOf({
      campaignId: name('c'),
      variants: ['current', name('v')],
      scenarios: [{ id: name('s'), family: text.toWellFormed() }, { id: name('t') }],
    }),
    file: text,
    scorers: planOf().scorers.map((scorer) => ({ ...scorer })),
  }
  const records = recordsOf(plan, ({ variant }, at): Partial<RunRecord> => {
    const failed = variant !== 'current' && at.scenario === 1
    return {
      status: failed ? 'task_fail' : 'scored',
      failure: failed ? { class: 'unknown', mode: text, message: text } : null,
      scores: {
        label: { value: failed ? null : 1, pass: failed ? null : true, role: 'code', rationale: text },
        [name('j')]: { value: null, pass: null, role: 'judge', error: text },
      },
      output: { digest: plan.scorerDigest, preview: text, path: text },
      model: { requested: [text], served: [text] },
      lane: text,
      tags: { [text]: text, topic: variant },
      integrity: { ok: true, issues: [{ code: 'model_alias', severity: 'warn', message: text }] },
    }
  })
  return campaignOf(plan, records, () => trafficSaying(text))
}

function trafficSaying(text: string): CellTraffic {
  const body = { text }
  const headers = [[text, text]] as const
  const request = { method: text, url: text, headers, body }
  const base = {
    role: 'judge',
    key: text,
    ordinal: 0,
    request,
    source: 'live',
    startedAt: text,
    ttfbMs: 1,
    totalMs: 2,
    redactions: [{ rule: text, count: 1 }],
    retried: 1,
  } as const
  const exchanges: Exchange[] = [
    {
      ...base,
      outcome: {
        kind: 'response',
        status: 200,
        statusText: text,
        headers,
        body,
        cuts: [],
        end: { kind: 'broken', code: text, message: text },
      },
    },
    { ...base, outcome: { kind: 'fault', phase: 'connect', code: text, message: text } },
  ]
  return { parts: [{ file: text, lines: [1, 2], attempt: 1, exchanges }], notes: [text] }
}
