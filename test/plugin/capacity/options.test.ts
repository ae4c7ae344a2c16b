import { expect, test } from 'vitest'
import { runBudget } from '../../../src/core/capacity/budget.ts'
import { EVALS_VARIABLES, envSwitch, strayVariables } from '../../../src/plugin/env.ts'
import { campaigns } from '../../../src/plugin/index.ts'

test('the smaller one of the option and the environment binds', () => {
  expect(runBudget(undefined, undefined)).toBeNull()
  expect(runBudget(undefined, ' ')).toBeNull()
  expect(runBudget({ usd: 5 }, undefined)).toBe(5_000_000)
  expect(runBudget({ usd: 5 }, '0.000001')).toBe(1)
  expect(runBudget({ usd: 5 }, '7')).toBe(5_000_000)
  expect(runBudget(undefined, '0')).toBe(0)
})

test.each(['five', '-1', '1e3', '0x10', 'NaN', 'Infinity', '5,00', '$5', '9999999999'])(
  'EVALS_BUDGET_USD=%s is no amount, and no missing budget either',
  (text) => {
    expect(() => runBudget({ usd: 5 }, text)).toThrow(`EVALS_BUDGET_USD="${text}" must be a number of US dollars`)
  },
)

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, 1e13])('budget: { usd: %s } is refused', (usd) => {
  expect(() => campaigns({ budget: { usd: usd as number } })).toThrow(
    /^campaigns\(\): budget\.usd: must be a number of US dollars, 0 or more, not /,
  )
})

test('a budget without its amount is none', () => {
  expect(() => campaigns({ budget: {} as never })).toThrow('budget.usd: must be a number of US dollars')
  expect(() => campaigns({ budget: { usd: 1, eur: 1 } as never })).toThrow('budget.eur is no option')
})

test.each([
  [1, 'retry: must be { infra: 0 } or { infra: 1 }, not 1: only infrastructure errors are run again'],
  [null, 'retry: must be { infra: 0 } or { infra: 1 }, not null'],
  [[], 'retry: must be { infra: 0 } or { infra: 1 }, not []'],
  [{}, 'retry.infra: must be 0 or 1, not nothing'],
  [{ infra: -1 }, 'retry.infra: must be 0 or 1, not -1'],
  [{ infra: 2 }, 'retry.infra: must be 0 or 1, not 2'],
  [{ infra: '1' }, 'retry.infra: must be 0 or 1, not "1"'],
  [{ infra: 1, judge: 1 }, 'retry.judge is no option: the options are infra'],
  [{ foo: 1 }, 'retry.foo is no option: the options are infra'],
])('retry: %j is refused', (retry, message) => {
  expect(() => campaigns({ retry: retry as never })).toThrow(message)
})

test.each(['yes', 'true', '2', '-1', ' 1'])('EVALS_PLAN=%j is neither on nor off', (value) => {
  expect(() => envSwitch('EVALS_PLAN', { EVALS_PLAN: value })).toThrow(
    `EVALS_PLAN=${JSON.stringify(value)} is neither 0 nor 1`,
  )
})

test('a switch of the environment is on, off, or not said', () => {
  expect([undefined, '', '0', '1'].map((EVALS_PLAN) => envSwitch('EVALS_PLAN', { EVALS_PLAN }))).toEqual([
    null,
    null,
    false,
    true,
  ])
})

test('every variable that a run reads is known by its name, and what looks like one is told with the nearest', () => {
  const known = Object.fromEntries(Object.keys(EVALS_VARIABLES).map((name) => [name, '1']))
  expect(strayVariables({ ...known, PATH: '', EVAL: '', EVAL_FILES: 'mine', MY_EVALS_PLAN: '1' })).toEqual([])
  const hint = (name: string) => strayVariables({ [name]: '1' })[0]?.replace(/^.*: /, '')
  expect(hint('EVALS_BUGET_USD')).toBe('did you mean EVALS_BUDGET_USD?')
  expect(hint('EVALS_BUDGET')).toBe('did you mean EVALS_BUDGET_USD?')
  expect(hint('EVALS_PLANN')).toBe('did you mean EVALS_PLAN?')
  expect(hint('EVAL_PLAN')).toBe('did you mean EVALS_PLAN?')
  expect(hint('evals_mode')).toBe('did you mean EVALS_MODE?')
  expect(hint('EVALS_TEMPERATURE')).toBe(`the variables are ${Object.keys(EVALS_VARIABLES).join(', ')}`)
  expect(hint('EVALS_toString')).toContain('the variables are')
})

test('what a run would read is told where a .env file sets it, which no run reads', () => {
  expect(strayVariables({}, { EVALS_BUDGET_USD: '1', OPENAI_API_KEY: 'x' })).toEqual([
    'EVALS_BUDGET_USD is set in a .env file, and nothing reads it there: set it in the environment',
  ])
  expect(strayVariables({ EVALS_BUDGET_USD: '2' }, { EVALS_BUDGET_USD: '2' })).toEqual([])
})
