import { describe, expect, test } from 'vitest'
import { cellName, cellsOf } from '../../../src/core/campaign/cells.ts'
import { CampaignDefinitionError } from '../../../src/core/campaign/definition-error.ts'
import { fingerprintOf } from '../../../src/core/campaign/fingerprint.ts'
import { cellIdOf, digestOf } from '../../../src/core/campaign/identity.ts'
import { type Campaign, loadDefinition } from '../../../src/core/campaign/load.ts'

const where = { file: 'evals/triage.eval.ts', line: 12 }
const base = {
  variants: { current: { model: 'gpt-5-mini' }, concise: { model: 'gpt-5-mini', system: 'short' } },
  scenarios: { refund: { ticket: 'twice', expected: 'billing' }, login: { ticket: 'locked', expected: 'account' } },
  run: () => 'billing',
  scorers: { label: () => true },
}

/** Loads what may be wrong on purpose. */
const load = (definition: object, id: unknown = 'triage'): Promise<Campaign> =>
  loadDefinition(id as string, definition as typeof base, where)
const withOptions = (options: object) => load({ ...base, ...options })

describe('a plan', () => {
  test('has every default filled in', async () => {
    const { plan } = await load({ ...base, gate: { comparator: 'current' } })
    expect(plan).toMatchObject({
      campaignId: 'triage',
      file: 'evals/triage.eval.ts',
      line: 12,
      seeds: [0],
      scorers: [{ name: 'label', role: 'code', scale: [0, 1], passes: true, lane: null }],
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
        candidates: ['concise'],
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
    })
    expect(plan.scenarios[0]).toMatchObject({
      id: 'refund',
      family: null,
      split: 'holdout',
      splitDeclared: false,
      mustPass: false,
    })
    expect(plan).toEqual(JSON.parse(JSON.stringify(plan)))
  })

  test('reads the options of scenarios and leaves them in the payload', async () => {
    const scenarios = [
      { id: 'a', mustPass: true, family: 'money', split: 'dev', canary: 'zebra' },
      { id: 'b', ticket: 'x' },
    ]
    const { plan, scenarios: payloads } = await withOptions({ scenarios, split: 'search' })
    expect(plan.scenarios).toMatchObject([
      { id: 'a', mustPass: true, family: 'money', split: 'dev', splitDeclared: true },
      { id: 'b', mustPass: false, family: null, split: 'search', splitDeclared: true },
    ])
    expect(payloads.get('a')).toEqual(scenarios[0])
  })

  test('the project gives the deadline, the campaign overrides it', async () => {
    const project = { timeoutMs: 5_000 }
    expect((await loadDefinition('t', base, where, project)).plan.timeoutMs).toBe(5_000)
    expect((await loadDefinition('t', { ...base, timeout: 70 }, where, project)).plan.timeoutMs).toBe(70)
  })

  test('records, arrays, functions and async functions give the same plan', async () => {
    const listed = Object.entries(base.scenarios).map(([id, rest]) => ({ id, ...rest }))
    const { plan } = await load(base)
    for (const scenarios of [listed, () => listed, async () => base.scenarios]) {
      expect((await withOptions({ scenarios })).plan).toEqual(plan)
    }
  })

  test('payloads are copies that no cell can change', async () => {
    const scenarios = { refund: { messages: ['a'] } }
    const { scenarios: payloads } = await withOptions({ scenarios })
    scenarios.refund.messages.push('b')
    const payload = payloads.get('refund')
    expect(payload).toEqual({ id: 'refund', messages: ['a'] })
    const messages = payload?.messages as string[]
    expect(() => messages.push('c')).toThrow(TypeError)
  })

  test('run is called on the definition', async () => {
    const definition = {
      ...base,
      run(): string {
        return Object.keys((this as unknown as typeof base).variants).join()
      },
    }
    const { run } = await load(definition)
    expect(run({} as Parameters<typeof run>[0])).toBe('current,concise')
  })
})

describe('digests', () => {
  test('the order of writing changes none of them', async () => {
    const a = await withOptions({
      seeds: [2, 1],
      scorers: { x: () => 1, y: () => 2 },
      gate: { comparator: 'current', primary: 'x' },
    })
    const b = await withOptions({
      variants: { concise: { system: 'short', model: 'gpt-5-mini' }, current: base.variants.current },
      scenarios: { login: base.scenarios.login, refund: base.scenarios.refund },
      seeds: [1, 2],
      scorers: { y: () => 2, x: () => 1 },
      gate: { comparator: 'current', primary: 'x' },
    })
    expect(b.plan.definitionDigest).toBe(a.plan.definitionDigest)
    expect(b.plan.scorerDigest).toBe(a.plan.scorerDigest)
  })

  test('the id is no part of the contents', async () => {
    const { plan } = await withOptions({ variants: { a: { model: 'm' }, b: { model: 'm' }, c: { model: 'n' } } })
    const [a, b, c] = plan.variants
    expect(a?.digest).toBe(b?.digest)
    expect(a?.digest).not.toBe(c?.digest)
    expect(a?.digest).toBe(digestOf({ model: 'm' }))
  })

  const gate = { comparator: 'current' }
  test.each<[string, object]>([
    ['a variant', { variants: { ...base.variants, concise: { model: 'gpt-5' } } }],
    ['a scenario', { scenarios: { ...base.scenarios, login: { ticket: 'other' } } }],
    ['one scenario less', { scenarios: { login: base.scenarios.login } }],
    ['must-pass', { scenarios: { ...base.scenarios, login: { ...base.scenarios.login, mustPass: true } } }],
    ['seeds', { seeds: 2 }],
    ['the split', { split: 'dev' }],
    ['the scale', { scorers: { label: { score: () => 1, scale: [0, 5] } } }],
    ['passAt', { scorers: { label: { score: () => 1, passAt: 0.5 } } }],
    ['the config of a scorer', { scorers: { label: { score: () => 1, config: { prompt: 'x' } } } }],
    ['the name of a scorer', { scorers: { other: () => true } }],
    ['the gate', { gate: { ...gate, margin: 0.1 } }],
    ['coverage', { coverage: 0.5 }],
    ['the deadline', { timeout: 5 }],
    ['capture', { capture: 'off' }],
  ])('%s changes the definition', async (_, options) => {
    const before = await withOptions({ gate })
    const after = await withOptions({ gate, ...options })
    expect(after.plan.definitionDigest).not.toBe(before.plan.definitionDigest)
    const code = digestOf('code')
    expect(fingerprintOf(after.plan, code)).not.toBe(fingerprintOf(before.plan, code))
  })

  test('the code and the campaign are part of the fingerprint, the place of the file and tags are not', async () => {
    const { plan } = await load(base)
    const code = digestOf('code')
    const fingerprint = fingerprintOf(plan, code)
    expect(fingerprintOf(plan, digestOf('other code'))).not.toBe(fingerprint)
    expect(fingerprintOf((await load(base, 'other')).plan, code)).not.toBe(fingerprint)
    const moved = await loadDefinition('triage', { ...base, tags: { team: 'a' } }, { file: 'moved.ts', line: null })
    expect(fingerprintOf(moved.plan, code)).toBe(fingerprint)
  })
})

describe('the declared lane', () => {
  test.each<[object, unknown, string | null]>([
    [{ model: 'gpt-5-mini' }, undefined, 'openai/gpt-5-mini'],
    [{ model: 'o3' }, undefined, 'openai/o3'],
    [{ model: 'claude-sonnet-4-5' }, undefined, 'anthropic/claude-sonnet-4-5'],
    [{ model: 'gemini-2.5-flash' }, undefined, 'google/gemini-2.5-flash'],
    [{ model: 'llama-3.3-70b', provider: 'groq' }, undefined, 'groq/llama-3.3-70b'],
    [{ model: 'openai/gpt-5', provider: 'openai' }, undefined, 'openai/gpt-5'],
    [{ model: 'openai/gpt-5', provider: 'openrouter' }, undefined, 'openrouter/openai/gpt-5'],
    [{ model: 'meta/llama-3' }, undefined, 'meta/llama-3'],
    [{ model: 'orca-2' }, undefined, null],
    [{ model: 7 }, undefined, null],
    [{}, undefined, null],
    [{ model: 'gpt-5', lane: 'slow' }, 'fast', 'slow'],
    [{ model: 'gpt-5' }, 'fast', 'fast'],
    [{ model: 'gpt-5', tier: 'x' }, (variant: { tier: string }) => `tier/${variant.tier}`, 'tier/x'],
    [{ model: 'gpt-5' }, () => null, 'openai/gpt-5'],
  ])('%j with %s is %s', async (variant, lane, expected) => {
    const { plan } = await withOptions({ variants: { v: variant }, ...(lane === undefined ? {} : { lane }) })
    expect(plan.variants[0]?.lane).toBe(expected)
  })
})

describe('cells', () => {
  test('are the product, by seed block, scenario, variant', async () => {
    const { plan } = await withOptions({ seeds: [7, -1] })
    const cells = cellsOf(plan)
    expect(cells.map(cellName)).toEqual([
      'current > refund > seed -1',
      'concise > refund > seed -1',
      'current > login > seed -1',
      'concise > login > seed -1',
      'current > refund > seed 7',
      'concise > refund > seed 7',
      'current > login > seed 7',
      'concise > login > seed 7',
    ])
    expect(cells.map(({ position }) => position.join())).toEqual([
      '0,0,0',
      '0,0,1',
      '0,1,0',
      '0,1,1',
      '1,0,0',
      '1,0,1',
      '1,1,0',
      '1,1,1',
    ])
    expect(cells[3]?.cellId).toBe(
      cellIdOf({ campaignId: 'triage', variantId: 'concise', scenarioId: 'login', seed: -1 }),
    )
    expect(new Set(cells.map(({ cellId }) => cellId)).size).toBe(8)
  })
})

describe('a wrong definition', () => {
  const two = { current: { model: 'a' }, next: { model: 'b' } }
  const scale = (limits: unknown) => ({ scorers: { label: { score: () => 1, scale: limits } } })
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const failing = () => {
    throw new Error('no such table')
  }

  test('a source that never settles is given up by name, and nothing is awaited after it', async () => {
    const asked: number[] = []
    const never = { ...base, scenarios: () => new Promise<never>(() => {}) }
    const loading = loadDefinition('triage', never, where, { timeoutMs: 1 }, async (_, ms) => {
      asked.push(ms)
      return false
    })
    await expect(loading).rejects.toThrow(/"triage" .*scenarios were not loaded within 10 minutes/)
    expect(asked).toEqual([600_000])
  })

  test.each<[string, object, string, RegExp]>([
    ['no variants', { variants: {} }, 'variants', /at least one variant/],
    ['no scenarios', { scenarios: [] }, 'scenarios', /at least one scenario/],
    ['scenarios from a function that gives none', { scenarios: async () => [] }, 'scenarios', /empty/],
    [
      'a name that no record holds',
      { scorers: { ['__proto__']: () => true } },
      'scorers.__proto__',
      /no record can hold/,
    ],
    ['no scorers', { scorers: {} }, 'scorers', /at least one scorer/],
    ['a source that is no listing', { variants: 'current' }, 'variants', /record, an array or a function/],
    ['a source that gives nothing', { variants: () => undefined }, 'variants', /not undefined/],
    ['a source that throws', { scenarios: failing }, 'scenarios', /could not be loaded: no such table/],
    ['a source that rejects', { scenarios: async () => failing() }, 'scenarios', /could not be loaded: no such table/],
    ['a member without id', { scenarios: [{ ticket: 'x' }] }, 'scenarios[0]', /has no id/],
    ['a member that is no object', { scenarios: { refund: 'x' } }, 'scenarios.refund', /must be an object/],
    ['two ids', { scenarios: { refund: { id: 'other' } } }, 'scenarios.refund', /"other" under the key "refund"/],
    ['an empty id', { variants: { '': {} } }, 'variants[""]', /is empty/],
    ['a control character', { variants: { 'a\nb': {} } }, 'variants["a\\nb"]', /control character/],
    ['an id that is no text', { variants: [{ id: 3 }] }, 'variants[0]', /must be a string/],
    ['the same id twice', { scenarios: [{ id: 'a' }, { id: 'a' }] }, 'scenarios[1]', /twice/],
    ['ids that differ in case', { variants: { Current: {}, current: {} } }, 'variants.current', /in case/],
    ['seeds: 0', { seeds: 0 }, 'seeds', /at least 1/],
    ['fractional seeds', { seeds: 1.5 }, 'seeds', /whole number/],
    ['NaN seeds', { seeds: Number.NaN }, 'seeds', /whole number/],
    ['a seed given as a count', { seeds: 20_240_101 }, 'seeds', /at most/],
    ['an empty list of seeds', { seeds: [] }, 'seeds', /empty/],
    ['a repeated seed', { seeds: [1, 2, 1] }, 'seeds[2]', /repeats the seed 1/],
    ['a fractional seed', { seeds: [0.5] }, 'seeds[0]', /safe integer/],
    ['an unsafe seed', { seeds: [2 ** 53] }, 'seeds[0]', /safe integer/],
    ['minus zero', { seeds: [-0] }, 'seeds[0]', /-0/],
    ['seeds as text', { seeds: '3' }, 'seeds', /a count or a list/],
    ['no run', { run: undefined }, 'run', /must be a function/],
    ['an unknown option', { scenario: {} }, 'scenario', /did you mean "scenarios"/],
    ['an unknown far option', { zzzzzzzz: 1 }, 'zzzzzzzz', /the options are variants/],
    ['an unknown gate option', { gate: { comparators: 'x' } }, 'gate.comparators', /did you mean "comparator"/],
    ['an unknown scorer option', { scorers: { a: { score: () => 1, pasAt: 1 } } }, 'scorers.a.pasAt', /"passAt"/],
    ['an unknown check', { integrity: { usage_mising: 'off' } }, 'integrity.usage_mising', /"usage_missing"/],
    ['an unknown severity', { integrity: { usage_missing: 'no' } }, 'integrity.usage_missing', /"error", "warn"/],
    ['undefined in a payload', { scenarios: { a: { due: undefined } } }, 'scenarios.a.due', /undefined/],
    ['NaN in a payload', { scenarios: { a: { due: [Number.NaN] } } }, 'scenarios.a.due[0]', /NaN/],
    ['a Date in a payload', { scenarios: { a: { due: new Date(0) } } }, 'scenarios.a.due', /Date/],
    ['a cycle in a payload', { scenarios: { a: { due: cyclic } } }, 'scenarios.a.due.self', /cycle/],
    ['a function in a payload', { variants: { a: { call: () => 1 } } }, 'variants.a.call', /a function/],
    ['a class instance as member', { variants: { a: new Date(0) } }, 'variants.a', /an instance of Date/],
    ['an unknown split', { split: 'test' }, 'split', /search, dev, holdout/],
    ['an unknown split of a scenario', { scenarios: { a: { split: 'test' } } }, 'scenarios.a.split', /search, dev/],
    ['mustPass as text', { scenarios: { a: { mustPass: 'yes' } } }, 'scenarios.a.mustPass', /true or false/],
    ['an empty family', { scenarios: { a: { family: '' } } }, 'scenarios.a.family', /non-empty/],
    ['an empty canary', { scenarios: { a: { canary: '' } } }, 'scenarios.a.canary', /non-empty/],
    ['an empty lane', { variants: { a: { lane: '' } } }, 'variants.a.lane', /non-empty/],
    ['a lane function that throws', { lane: failing }, 'lane', /threw for the variant "current"/],
    ['a lane function that gives a number', { lane: () => 4 }, 'lane', /gave 4/],
    ['coverage 0', { coverage: 0 }, 'coverage', /above 0/],
    ['coverage above 1', { coverage: 1.1 }, 'coverage', /at most 1/],
    ['coverage NaN', { coverage: Number.NaN }, 'coverage', /share/],
    ['timeout 0', { timeout: 0 }, 'timeout', /positive finite/],
    ['timeout Infinity', { timeout: Number.POSITIVE_INFINITY }, 'timeout', /positive finite/],
    ['capture as boolean', { capture: false }, 'capture', /"on" or "off"/],
    ['tags that are no text', { tags: { a: 1 } }, 'tags.a', /text/],
    ['mocks that are no list', { mocks: {} }, 'mocks', /list of msw handlers/],
    ['a route with a path', { routes: ['https://api.openai.com/v1'] }, 'routes[0]', /"https:\/\/api.openai.com"/],
    ['a route that is no origin', { routes: ['api.openai.com'] }, 'routes[0]', /write an origin/],
    ['digest files that are no list', { digest: { files: 'a' } }, 'digest.files', /list/],
    ['a scorer that is no function', { scorers: { a: 1 } }, 'scorers.a', /a function or an object/],
    ['scorer names that differ in case', { scorers: { a: () => 1, A: () => 1 } }, 'scorers.A', /in case/],
    ['an unknown role', { scorers: { a: { score: () => 1, role: 'llm' } } }, 'scorers.a.role', /code, judge, command/],
    ['a reversed scale', scale([1, 0]), 'scorers.label.scale', /lowest < highest/],
    ['a scale with NaN', scale([0, Number.NaN]), 'scorers.label.scale', /finite/],
    ['an infinite scale', scale([0, Number.POSITIVE_INFINITY]), 'scorers.label.scale', /null/],
    ['passAt outside', { scorers: { a: { score: () => 1, passAt: 2 } } }, 'scorers.a.passAt', /outside the scale/],
    [
      'a second opinion on nothing',
      { scorers: { a: { score: () => 1, rates: 'b' } } },
      'scorers.a.rates',
      /no other scorer/,
    ],
    [
      'a second opinion on itself',
      { scorers: { a: { score: () => 1, rates: 'a' } } },
      'scorers.a.rates',
      /no other scorer/,
    ],
    [
      'a second opinion on a second opinion',
      {
        scorers: {
          a: () => 1,
          b: { score: () => 1, rates: 'a' },
          c: { score: () => 1, rates: 'b' },
        },
      },
      'scorers.c.rates',
      /itself rates "a"/,
    ],
    [
      'a second opinion on another scale',
      { scorers: { a: () => 1, b: { score: () => 1, rates: 'a', scale: [1, 5] } } },
      'scorers.b.rates',
      /scale is another/,
    ],
    [
      'a config with undefined',
      { scorers: { a: { score: () => 1, config: { x: undefined } } } },
      'scorers.a.config.x',
      /undefined/,
    ],
    ['an unbounded primary', scale(null), 'scorers', /no bounds/],
    [
      'an unbounded named primary',
      { ...scale(null), gate: { primary: 'label', atLeast: 1 } },
      'gate.primary',
      /no bounds/,
    ],
    [
      'a primary that leaves a scenario out',
      { scorers: { a: { score: () => 1, appliesTo: () => false } } },
      'scorers',
      /does not apply to the scenario "refund"/,
    ],
    [
      'appliesTo that throws',
      { scorers: { a: { score: () => 1, appliesTo: failing } } },
      'scorers.a.appliesTo',
      /no such table/,
    ],
    [
      'mustPass with numbers only',
      { ...scale([1, 5]), scenarios: { a: { mustPass: true } } },
      'scenarios.a.mustPass',
      /passAt/,
    ],
    [
      'mustPass with passes: false',
      { scorers: { a: { score: () => 1, passes: false } }, scenarios: { a: { mustPass: true } } },
      'scenarios.a.mustPass',
      /passAt/,
    ],
    ['a gate that decides nothing', { gate: {} }, 'gate', /decides nothing/],
    ['an unknown kind of gate', { gate: { kind: 'nightly', comparator: 'current' } }, 'gate.kind', /"pr" or "release"/],
    [
      'an unknown comparator',
      { gate: { comparator: 'base' } },
      'gate.comparator',
      /the variants are "current", "concise"/,
    ],
    [
      'no accepted()',
      { gate: { comparator: { kind: 'accepted' } } },
      'gate.comparator',
      /id of a variant or accepted\(\)/,
    ],
    [
      'accepted() of nothing',
      { gate: { comparator: { comparator: 'accepted', variant: '' } } },
      'gate.comparator',
      /the argument must be the id/,
    ],
    [
      'no claim',
      { gate: { comparator: 'current', hypothesis: { campaign: 'triage', terms: {} } } },
      'gate.hypothesis.claim',
      /no part of a preregistration/,
    ],
    [
      'the claim of another campaign',
      { gate: { comparator: 'current', hypothesis: { campaign: 'other', claim: 'x', terms: {} } } },
      'gate.hypothesis.campaign',
      /another campaign/,
    ],
    ['nothing to compare', { variants: { a: {} }, gate: { comparator: 'a' } }, 'gate.comparator', /only variant/],
    [
      'an unknown primary',
      { gate: { comparator: 'current', primary: 'x' } },
      'gate.primary',
      /the scorers are "label"/,
    ],
    [
      'an unknown candidate',
      { variants: two, gate: { comparator: 'current', candidates: ['x'] } },
      'gate.candidates[0]',
      /no variant/,
    ],
    [
      'the comparator as candidate',
      { variants: two, gate: { comparator: 'current', candidates: ['current'] } },
      'gate.candidates[0]',
      /with itself/,
    ],
    [
      'a candidate twice',
      { variants: two, gate: { comparator: 'current', candidates: ['next', 'next'] } },
      'gate.candidates[1]',
      /repeats/,
    ],
    [
      'no candidates',
      { variants: two, gate: { comparator: 'current', candidates: [] } },
      'gate.candidates',
      /at least one/,
    ],
    ['atLeast outside', { gate: { atLeast: 1.5 } }, 'gate.atLeast', /outside the scale/],
    ['atLeast NaN', { gate: { atLeast: Number.NaN } }, 'gate.atLeast', /finite/],
    ['margin 0', { gate: { comparator: 'current', margin: 0 } }, 'gate.margin', /positive/],
    ['a negative margin', { gate: { comparator: 'current', margin: -0.1 } }, 'gate.margin', /positive/],
    ['a margin as large as the scale', { gate: { comparator: 'current', margin: 1 } }, 'gate.margin', /whole scale/],
    ['a negative gain', { gate: { comparator: 'current', minGain: -1 } }, 'gate.minGain', /positive/],
    ['alpha 0', { gate: { comparator: 'current', alpha: 0 } }, 'gate.alpha', /above 0/],
    ['alpha above a half', { gate: { comparator: 'current', alpha: 0.6 } }, 'gate.alpha', /at most 0.5/],
  ])('%s', async (_, options, path, says) => {
    const error: unknown = await withOptions(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CampaignDefinitionError)
    expect(error).toMatchObject({ campaignId: 'triage', path, site: where })
    expect(String(error)).toMatch(says)
    expect(String(error)).toContain(`campaign "triage" (evals/triage.eval.ts:12): ${path} `)
  })

  test('the error of a source is kept as cause', async () => {
    const cause = new Error('no such table')
    await expect(withOptions({ scenarios: () => Promise.reject(cause) })).rejects.toMatchObject({ cause })
  })

  test.each([[''], ['a\u0000b'], [7], ['x'.repeat(201)]])('campaign id %j is refused', async (id) => {
    await expect(load(base, id)).rejects.toThrow(CampaignDefinitionError)
  })

  test('a definition that is no object is refused', async () => {
    await expect(loadDefinition('t', null as never, where)).rejects.toThrow('must be an object, not null')
  })
})
