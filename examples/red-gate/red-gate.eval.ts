import { evalCampaign, exactMatch } from 'vitest-campaign'

// What a shown regression looks like: the candidate is wrong on every one of 24 scenarios, so the gate is red.
evalCampaign('red-gate', {
  variants: { current: { parity: ['even', 'odd'] }, broken: { parity: ['odd', 'even'] } },
  scenarios: Array.from({ length: 24 }, (_, n) => ({ id: `n${n}`, n, expected: n % 2 === 0 ? 'even' : 'odd' })),
  // No model is asked here.
  capture: 'off',
  run: ({ variant, scenario }) => variant.parity[scenario.n % 2],
  scorers: { label: exactMatch() },
  gate: { comparator: 'current', primary: 'label' },
})
