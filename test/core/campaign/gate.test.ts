import { describe, expect, it } from 'vitest'
import { CampaignDefinitionError } from '../../../src/core/campaign/definition-error.ts'
import { loadDefinition } from '../../../src/core/campaign/load.ts'
import type { PlannedGate } from '../../../src/core/campaign/plan.ts'

const where = { file: 'evals/triage.eval.ts', line: 3 }

function gateOf(
  gate: object,
  parts: { scenarios?: number; seeds?: number; passes?: boolean } = {},
): Promise<PlannedGate | null> {
  const count = parts.scenarios ?? 24
  const definition = {
    variants: { current: {}, concise: {} },
    scenarios: Array.from({ length: count }, (_, i) => ({ id: `s${i}` })),
    seeds: parts.seeds ?? 3,
    run: () => 'billing',
    scorers: {
      label: { score: () => 1, passes: parts.passes ?? true },
      tone: { score: () => 3, scale: [1, 5] as const },
      words: { score: () => 120, scale: null },
    },
    gate,
  }
  return loadDefinition('triage', definition as never, where).then(({ plan }) => plan.gate)
}

const compared = { comparator: 'current' }

describe('gate', () => {
  it('a pr gate warns, a release gate fails where nothing is decided', async () => {
    expect(await gateOf(compared)).toMatchObject({
      kind: 'pr',
      onInconclusive: 'warn',
      assurance: 'standard',
      looks: 1,
    })
    expect(await gateOf({ ...compared, kind: 'release', margin: 0.05 })).toMatchObject({
      kind: 'release',
      onInconclusive: 'fail',
      target: 0.05,
    })
    expect(await gateOf({ ...compared, onInconclusive: 'fail', assurance: 'bounded', looks: 3 })).toMatchObject({
      onInconclusive: 'fail',
      assurance: 'bounded',
      looks: 3,
    })
  })

  it('a release gate on a threshold needs neither margin nor target', async () => {
    expect(await gateOf({ kind: 'release', atLeast: 0.9 })).toMatchObject({ kind: 'release', comparator: null })
  })

  it('guardrails keep their order, and a release gate wants them shown', async () => {
    const guardrails = { tone: { diff: 0.5 }, cost: { ratio: 1.1 }, latencyP95: { ratio: 1.2, require: 'shown' } }
    expect((await gateOf({ ...compared, guardrails }))?.guardrails).toEqual([
      { name: 'tone', endpoint: 'score', ratio: null, diff: 0.5, require: 'not-violated' },
      { name: 'cost', endpoint: 'cost', ratio: 1.1, diff: null, require: 'not-violated' },
      { name: 'latencyP95', endpoint: 'latencyP95', ratio: 1.2, diff: null, require: 'shown' },
    ])
    const release = await gateOf({ ...compared, kind: 'release', margin: 0.05, guardrails: { cost: { ratio: 1.1 } } })
    expect(release?.guardrails[0]?.require).toBe('shown')
  })

  it('a p95 guardrail needs 59 runs', async () => {
    const guardrails = { latencyP95: { ratio: 1.2 } }
    await expect(gateOf({ ...compared, guardrails }, { scenarios: 58, seeds: 1 })).rejects.toMatchObject({
      path: 'gate.guardrails.latencyP95',
      message: expect.stringContaining('at least 59 runs'),
    })
    expect((await gateOf({ ...compared, guardrails }, { scenarios: 59, seeds: 1 }))?.guardrails).toHaveLength(1)
  })

  it.each<[string, object, string, RegExp]>([
    ['release without margin or gain', { ...compared, kind: 'release', target: 0.1 }, 'gate', /margin/],
    [
      'release for a gain without a target',
      { ...compared, kind: 'release', minGain: 0.1 },
      'gate.target',
      /able to see/,
    ],
    [
      'another word for inconclusive',
      { ...compared, onInconclusive: 'ignore' },
      'gate.onInconclusive',
      /"warn" or "fail"/,
    ],
    ['another assurance', { ...compared, assurance: 'high' }, 'gate.assurance', /"standard" or "bounded"/],
    ['no look', { ...compared, looks: 0 }, 'gate.looks', /whole number/],
    ['half a look', { ...compared, looks: 1.5 }, 'gate.looks', /whole number/],
    ['guardrails as a list', { ...compared, guardrails: ['cost'] }, 'gate.guardrails', /object/],
    [
      'a guardrail on nothing known',
      { ...compared, guardrails: { costs: { ratio: 2 } } },
      'gate.guardrails.costs',
      /did you mean "cost"/,
    ],
    [
      'a guardrail without comparator',
      { atLeast: 0.9, guardrails: { cost: { ratio: 2 } } },
      'gate.guardrails.cost',
      /comparator/,
    ],
    [
      'a guardrail on the primary',
      { ...compared, guardrails: { label: { diff: 0.1 } } },
      'gate.guardrails.label',
      /margin/,
    ],
    ['two limits', { ...compared, guardrails: { cost: { ratio: 2, diff: 1 } } }, 'gate.guardrails.cost', /either/],
    ['no limit', { ...compared, guardrails: { cost: {} } }, 'gate.guardrails.cost', /either/],
    ['a ratio of 0', { ...compared, guardrails: { cost: { ratio: 0 } } }, 'gate.guardrails.cost.ratio', /positive/],
    ['a ratio of scores', { ...compared, guardrails: { tone: { ratio: 2 } } }, 'gate.guardrails.tone.ratio', /diff/],
    [
      'a loss as large as the scale',
      { ...compared, guardrails: { tone: { diff: 4 } } },
      'gate.guardrails.tone.diff',
      /whole scale/,
    ],
    ['an unknown key', { ...compared, guardrails: { cost: { ratoi: 2 } } }, 'gate.guardrails.cost.ratoi', /ratio/],
    [
      'another requirement',
      { ...compared, guardrails: { cost: { ratio: 2, require: 'yes' } } },
      'gate.guardrails.cost.require',
      /not-violated/,
    ],
  ])('refuses %s', async (_, gate, path, says) => {
    const error: unknown = await gateOf(gate).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CampaignDefinitionError)
    expect(error).toMatchObject({ path, message: expect.stringMatching(says) })
  })

  it('refuses a pass-rate guardrail where the primary neither passes nor fails', async () => {
    await expect(gateOf({ ...compared, guardrails: { passRate: { diff: 0.1 } } }, { passes: false })).rejects.toThrow(
      'pass or fail',
    )
  })
})
