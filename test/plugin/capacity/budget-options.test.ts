import { expect, test } from 'vitest'
import { runBudget } from '../../../src/core/capacity/budget.ts'
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
