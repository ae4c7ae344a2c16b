import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Json, ScoreContext, ScorerObject, ScoreValue } from '../../../src/core/campaign/definition.ts'
import { exactMatch } from '../../../src/core/scorers/exact-match.ts'
import { includes } from '../../../src/core/scorers/includes.ts'
import { jsonMatch } from '../../../src/core/scorers/json-match.ts'
import { matches } from '../../../src/core/scorers/matches.ts'
import { normaliseScore } from '../../../src/core/scorers/normalise.ts'
import { numeric } from '../../../src/core/scorers/numeric.ts'

interface Scored {
  readonly expected?: unknown
  readonly label?: string
}

/** Scores one output and reads the value as the worker does. */
async function score<Output>(
  scorer: ScorerObject<unknown, never, Output>,
  output: unknown,
  scenario: Scored = {},
): Promise<{ value: number | null; pass: boolean | null; rationale?: string }> {
  const context = { output, scenario: { id: 'refund', ...scenario }, variant: { id: 'v' }, seed: 0 }
  const value: ScoreValue = await scorer.score(context as unknown as ScoreContext<unknown, never, Output>)
  return normaliseScore({ name: 's', role: 'code', scale: [0, 1], passAt: null }, value)
}
const passes = async <Output>(scorer: ScorerObject<unknown, never, Output>, output: unknown, scenario: Scored = {}) =>
  (await score(scorer, output, scenario)).pass

describe('exactMatch', () => {
  test.each<[string, unknown, Json, boolean]>([
    ['equal text', 'billing', 'billing', true],
    ['white space around it', ' billing\n', 'billing', true],
    ['another case', 'Billing', 'billing', false],
    ['other text', 'account', 'billing', false],
    ['a number as text', '1', 1, false],
    ['objects whatever the order of keys', { b: [1], a: 2 }, { a: 2, b: [1] }, true],
    ['another object', { a: 2, b: [1, 2] }, { a: 2, b: [1] }, false],
    ['null', null, null, true],
    ['null and text', null, 'billing', false],
    ['false is an expected value', false, false, true],
  ])('%s', async (_, output, expected, pass) => {
    expect(await passes(exactMatch(), output, { expected })).toBe(pass)
  })

  test('options', async () => {
    expect(await passes(exactMatch({ caseSensitive: false }), 'Billing', { expected: 'billing' })).toBe(true)
    expect(await passes(exactMatch({ trim: false }), 'billing ', { expected: 'billing' })).toBe(false)
    expect(await passes(exactMatch({ expected: 'constant' }), 'constant', { expected: 'other' })).toBe(true)
    const byLabel = exactMatch({ expected: (scenario: { label: string }) => scenario.label })
    expect(await passes(byLabel, 'x', { label: 'x' })).toBe(true)
  })

  test('says what was expected and what came', async () => {
    const { rationale } = await score(exactMatch(), 'x'.repeat(900), { expected: 'billing' })
    expect(rationale).toMatch(/^expected "billing", got "xxx/)
    expect(rationale?.length).toBeLessThan(200)
  })
})

describe('includes', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['text inside', 'please see Billing today', 'billing', true],
    ['text not inside', 'account', 'billing', false],
    ['all of a list', 'a and b', ['A', 'b'], true],
    ['one of a list missing', 'a and c', ['a', 'b'], false],
    ['no text', null, 'billing', false],
  ])('%s', async (_, output, expected, pass) => {
    expect(await passes(includes(), output, { expected })).toBe(pass)
  })
  test('case counts when asked for', async () => {
    expect(await passes(includes({ caseSensitive: true }), 'Billing', { expected: 'billing' })).toBe(false)
  })
  test('names what is missing', async () => {
    expect((await score(includes(), 'a', { expected: ['a', 'b', 'c'] })).rationale).toBe(
      'the output does not contain "b", "c"',
    )
  })
  test.each([[''], [[]], [['a', '']], [3]])('the expected value %j is refused', async (expected) => {
    await expect(score(includes(), 'x', { expected })).rejects.toThrow('must be text or a list of texts')
  })
  test('an output that is no text is refused', async () => {
    await expect(score(includes(), { a: 1 }, { expected: 'x' })).rejects.toThrow('includes: the output must be text')
  })
})

describe('matches', () => {
  test.each<[string, RegExp, unknown, boolean]>([
    ['found', /^\d+$/, '123', true],
    ['not found', /^\d+$/, '12a', false],
    ['flags', /BILLING/i, 'billing', true],
    ['no text', /x/, null, false],
  ])('%s', async (_, pattern, output, pass) => {
    expect(await passes(matches(pattern), output)).toBe(pass)
  })
  test('a global or sticky pattern forgets the output before', async () => {
    for (const flags of ['g', 'y', 'gy']) {
      const scorer = matches(new RegExp('a', flags))
      expect([await passes(scorer, 'a'), await passes(scorer, 'a'), await passes(scorer, 'a')]).toEqual([
        true,
        true,
        true,
      ])
    }
  })
  test('a pattern per scenario', async () => {
    const scorer = matches((scenario: { label: string }) => new RegExp(scenario.label))
    expect(await passes(scorer, 'abc', { label: 'b' })).toBe(true)
    await expect(
      score(
        matches(() => 'b' as never),
        'abc',
      ),
    ).rejects.toThrow('is no regular expression')
  })
})

describe('jsonMatch', () => {
  test.each<[string, unknown, Json, boolean, RegExp?]>([
    ['a part', { label: 'x', more: 1 }, { label: 'x' }, true],
    ['text that is JSON', '{"label":"x","more":1}', { label: 'x' }, true],
    ['text that is none', 'label: x', { label: 'x' }, false, /no JSON/],
    ['a missing member', { more: 1 }, { label: 'x' }, false, /^label: is missing$/],
    ['a wrong member', { a: { 'b c': 2 } }, { a: { 'b c': 1 } }, false, /^a\["b c"\]: expected 1, got 2$/],
    ['null for a missing one', {}, { label: null }, false, /label: is missing/],
    ['a part of a list', { items: [{ n: 1, m: 2 }] }, { items: [{ n: 1 }] }, true],
    ['a longer list', { items: [1, 2] }, { items: [1] }, false, /items: expected 1 members, got 2/],
    ['a list for an object', [], { a: 1 }, false, /the output: expected an object, got \[\]/],
    ['an object for a list', { items: {} }, { items: [] }, false, /items: expected a list/],
    ['a scalar', '3', 3, true],
    ['an inherited member', {}, { toString: null }, false, /toString: is missing/],
  ])('%s', async (_, output, expected, pass, says = /^/) => {
    const constant = await score(jsonMatch(expected), output)
    expect(constant.pass).toBe(pass)
    expect(constant.rationale ?? '').toMatch(says)
    expect(await passes(jsonMatch(), output, { expected })).toBe(pass)
    expect(
      await passes(
        jsonMatch(() => expected),
        output,
      ),
    ).toBe(pass)
  })

  test('a Standard Schema', async () => {
    const schema = z.object({ total: z.number(), items: z.array(z.string()) })
    expect(await passes(jsonMatch(schema), '{"total":1,"items":["a"]}')).toBe(true)
    const { pass, rationale } = await score(jsonMatch(schema), { total: 1, items: [2] })
    expect(pass).toBe(false)
    expect(rationale).toMatch(/^items\.0: /)
  })

  test('an asynchronous schema, and one that is a function', async () => {
    const validate = async (value: unknown) =>
      value === 1 ? { value } : { issues: [{ message: 'not 1' }, { message: 'x' }] }
    const schema = Object.assign(() => null, { '~standard': { version: 1 as const, vendor: 'test', validate } })
    expect(await passes(jsonMatch(schema), 1)).toBe(true)
    expect(await score(jsonMatch(schema), 2)).toMatchObject({ pass: false, rationale: 'not 1 (and 1 more)' })
  })
})

describe('numeric', () => {
  test.each<[string, Parameters<typeof numeric>[0] & object, unknown, number, boolean]>([
    ['equal', {}, 3, 3, true],
    ['equal as text', {}, ' 3.0 ', 3, true],
    ['a rounding step', {}, 0.1 + 0.2, 0.3, true],
    ['off', {}, 3.1, 3, false],
    ['within the tolerance', { tolerance: 0.1 }, 3.1, 3, true],
    ['outside the tolerance', { tolerance: 0.1 }, 3.11, 3, false],
    ['within a share', { relative: 0.01 }, 101, 100, true],
    ['outside a share', { relative: 0.01 }, 101.1, 100, false],
    ['the looser counts', { relative: 0.01, tolerance: 5 }, 104, 100, true],
    ['words around it', {}, 'it is 3', 3, false],
    ['the last number', { from: 'last' }, 'of 10 it is $1,234.50.', 1234.5, true],
    ['the last of a list', { from: 'last' }, '1,2,3', 3, true],
    ['a date is no negative number', { from: 'last' }, '2024-05', 5, true],
    ['a negative number', { from: 'last' }, 'it fell to -7', -7, true],
    ['an exponent', {}, '1.5e3', 1500, true],
    ['no number', { from: 'last' }, 'none', 3, false],
    ['empty text', {}, '', 0, false],
    ['NaN', {}, Number.NaN, 0, false],
    ['hexadecimal', {}, '0x10', 16, false],
    ['null', {}, null, 0, false],
  ])('%s', async (_, options, output, expected, pass) => {
    expect(await passes(numeric(options), output, { expected })).toBe(pass)
  })
  test.each([[{ tolerance: -1 }], [{ relative: Number.NaN }]])('options %j are refused', (options) => {
    expect(() => numeric(options)).toThrow(RangeError)
  })
  test('an expected value that is no number is refused', async () => {
    await expect(score(numeric(), 3, { expected: '3' })).rejects.toThrow('must be a finite number')
  })
})

test.each([
  ['exactMatch', exactMatch()],
  ['includes', includes()],
  ['jsonMatch', jsonMatch()],
  ['numeric', numeric()],
])('%s: a scenario without expected value is an error, not a score of 0', async (name, scorer) => {
  await expect(score(scorer as ScorerObject<unknown, never, unknown>, 'x')).rejects.toThrow(
    `${name}: scenario "refund" has no \`expected\``,
  )
})

test('an `expected` function that finds nothing is an error too', async () => {
  const scorer = exactMatch({ expected: (scenario: Scored) => scenario.expected as Json })
  await expect(score(scorer, 'x')).rejects.toThrow('no expected value by the `expected` option')
})

test('options that change what is measured are in the config', () => {
  const configs = [
    exactMatch(),
    exactMatch({ trim: false }),
    exactMatch({ expected: 'a' }),
    includes(),
    includes({ expected: 'a' }),
    matches(/a/),
    matches(/a/i),
    jsonMatch({ a: 1 }),
    jsonMatch({ a: 2 }),
    numeric(),
    numeric({ tolerance: 1 }),
    numeric({ relative: 1 }),
    numeric({ from: 'last' }),
  ].map(({ config }) => JSON.stringify(config))
  expect(new Set(configs).size).toBe(configs.length)
})
