import { expectTypeOf, test } from 'vitest'
import type { DeclareCampaign, Scorer } from '../../../src/core/campaign/definition.ts'
import { exactMatch } from '../../../src/core/scorers/exact-match.ts'
import { includes } from '../../../src/core/scorers/includes.ts'
import { jsonMatch } from '../../../src/core/scorers/json-match.ts'
import { matches } from '../../../src/core/scorers/matches.ts'
import { numeric } from '../../../src/core/scorers/numeric.ts'

// Nothing here runs a campaign: the compiler is what is tested.
const evalCampaign: DeclareCampaign = () => {}

test('records: variant, scenario and output reach run and scorers', () => {
  evalCampaign('records', {
    variants: { current: { model: 'a', temperature: 1 }, next: { model: 'b', temperature: 0 } },
    scenarios: { refund: { ticket: 'x', expected: 'billing' } },
    run({ variant, scenario, seed, signal }) {
      expectTypeOf(variant.model).toEqualTypeOf<string>()
      expectTypeOf(variant.temperature).toEqualTypeOf<number>()
      expectTypeOf(variant.id).toEqualTypeOf<string>()
      expectTypeOf(scenario.ticket).toEqualTypeOf<string>()
      expectTypeOf(scenario.id).toEqualTypeOf<string>()
      expectTypeOf(seed).toEqualTypeOf<number>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      // @ts-expect-error no such field
      void variant.modle
      return { label: scenario.ticket, tries: 1 }
    },
    scorers: {
      label: ({ output, scenario, variant }) => {
        expectTypeOf(output).toEqualTypeOf<{ label: string; tries: number }>()
        expectTypeOf(variant.model).toEqualTypeOf<string>()
        return output.label === scenario.expected
      },
      tries: { score: ({ output }) => output.tries, scale: [0, 9], appliesTo: (scenario) => scenario.ticket !== '' },
    },
  })
})

test('arrays whose members carry ids, with the options of scenarios and variants', () => {
  evalCampaign('arrays', {
    variants: [{ id: 'current', model: 'a', lane: 'fast' }],
    scenarios: [
      { id: 'refund', ticket: 'x', expected: 1, mustPass: true, family: 'money', split: 'dev', canary: 'zebra' },
      { id: 'login', ticket: 'y', expected: 2 },
    ],
    async run({ variant, scenario }) {
      expectTypeOf(variant.id).toEqualTypeOf<string>()
      expectTypeOf(variant.model).toEqualTypeOf<string>()
      expectTypeOf(scenario.ticket).toEqualTypeOf<string>()
      expectTypeOf(scenario.expected).toEqualTypeOf<number>()
      return scenario.ticket
    },
    scorers: {
      length: ({ output }) => {
        expectTypeOf(output).toEqualTypeOf<string>()
        return output.length > 0
      },
    },
  })
})

test('async functions as sources', () => {
  const load = async () => [{ id: 'refund', ticket: 'x', expected: 'billing' }]
  evalCampaign('functions', {
    variants: () => ({ current: { model: 'a' } }),
    scenarios: load,
    run: async ({ variant, scenario }) => {
      expectTypeOf(variant.model).toEqualTypeOf<string>()
      expectTypeOf(scenario.ticket).toEqualTypeOf<string>()
      return scenario.ticket.length
    },
    scorers: {
      any: async ({ output, scenario }) => {
        expectTypeOf(output).toEqualTypeOf<number>()
        return { value: output > 0, rationale: scenario.expected }
      },
    },
  })
})

test('a scorer for another output, a wrong score and a wrong source are errors', () => {
  const ofNumbers: Scorer<object, object, number> = ({ output }) => output > 0
  const base = { variants: { current: { model: 'a' } }, scenarios: { refund: { ticket: 'x' } } }
  evalCampaign('wrong output', {
    ...base,
    run: ({ scenario }) => scenario.ticket,
    // @ts-expect-error run gives text, the scorer wants a number
    scorers: { positive: ofNumbers },
  })
  evalCampaign('right output', {
    ...base,
    run: ({ scenario }) => scenario.ticket.length,
    scorers: { positive: ofNumbers },
  })
  evalCampaign('wrong output of a shipped scorer', {
    ...base,
    run: async ({ scenario }) => ({ label: scenario.ticket }),
    // @ts-expect-error run gives an object, the scorer reads text
    scorers: { pattern: matches(/x/) },
  })
  evalCampaign('wrong score', {
    ...base,
    run: ({ scenario }) => scenario.ticket,
    // @ts-expect-error text is no score
    scorers: { text: () => 'good' },
  })
  evalCampaign('no expected value', {
    ...base,
    run: ({ scenario }) => scenario.ticket,
    // @ts-expect-error the scenarios have no `expected`
    scorers: { exact: exactMatch() },
  })
  evalCampaign('wrong members', {
    // @ts-expect-error members of an array need an id
    variants: [{ model: 'a' }],
    scenarios: { refund: { ticket: 'x' } },
    run: () => 'x',
    scorers: { any: () => true },
  })
  evalCampaign('wrong option', {
    variants: { current: { model: 'a' } },
    // @ts-expect-error mustPass is true or false
    scenarios: { refund: { ticket: 'x', mustPass: 'yes' } },
    run: () => 'x',
    scorers: { any: () => true },
  })
})

test('the shipped scorers fit without type arguments', () => {
  evalCampaign('shipped', {
    variants: { current: { model: 'a' } },
    scenarios: [{ id: 'refund', ticket: 'x', expected: 'billing', amount: 3 }],
    run: async ({ scenario }): Promise<string | null> => scenario.ticket,
    scorers: {
      exact: exactMatch(),
      relaxed: exactMatch({ caseSensitive: false }),
      constant: exactMatch({ expected: 'billing' }),
      named: exactMatch({ expected: (scenario: { ticket: string }) => scenario.ticket }),
      inside: includes(),
      words: includes({ expected: ['a', 'b'] }),
      pattern: matches(/x/),
      part: jsonMatch({ label: 'x' }),
      whole: jsonMatch(),
      amount: numeric({ expected: (scenario: { amount: number }) => scenario.amount, tolerance: 1 }),
      narrowed: { ...exactMatch(), appliesTo: (scenario) => scenario.amount > 1 },
    },
    gate: { comparator: 'current' },
  })
})
