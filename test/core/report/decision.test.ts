import { describe, expect, it } from 'vitest'
import {
  decide,
  decideThreshold,
  type Evidence,
  RULES,
  THRESHOLD_RULES,
  type ThresholdEvidence,
} from '../../../src/core/report/decision.ts'

/** 24 scenarios, nothing shown, nothing asked for. */
const quiet: Evidence = {
  invalid: false,
  mustPassBroken: false,
  units: 24,
  noDifference: false,
  sameOutputs: false,
  lower: -0.1,
  upper: 0.1,
  skewedLower: -0.1,
  zeroSpread: false,
  tangoLower: null,
  judgeUnreliable: false,
  p: 0.9,
  alpha: 0.025,
  margin: null,
  minGain: 0,
  target: null,
  exploratory: false,
  differing: 12,
  detectable: 0.15,
  coverageShort: false,
  guardrailViolated: false,
  guardrailOpen: false,
  bounded: null,
}
/** The bound for skewed differences is that of the t interval unless a line says otherwise. */
const evidenceOf = (parts: Partial<Evidence>): Evidence => ({
  ...quiet,
  skewedLower: parts.lower ?? quiet.lower,
  ...parts,
})
const worse = { lower: -0.3, upper: -0.1, p: 0.001 }
const better = { lower: 0.1, upper: 0.3, p: 0.001 }

type Row = readonly [
  title: string,
  evidence: Partial<Evidence>,
  row: string,
  outcome: string,
  code: string,
  red: boolean,
]

// One line per rule that only this rule explains, and one on either side of every boundary.
const ROWS: readonly Row[] = [
  ['an invalid campaign', { invalid: true, mustPassBroken: true, ...better }, '1', 'invalid', 'invalid', true],
  [
    'a broken must-pass scenario, at any size',
    { mustPassBroken: true, units: 1, noDifference: true },
    '2',
    'regress',
    'must_pass_broken',
    true,
  ],
  [
    'a broken must-pass scenario beside a gain',
    { mustPassBroken: true, ...better },
    '2',
    'regress',
    'must_pass_broken',
    true,
  ],
  [
    'all differences 0',
    { noDifference: true, lower: 0, upper: 0, p: 1, zeroSpread: true },
    '2a',
    'hold',
    'no_difference_seen',
    false,
  ],
  ['all differences 0 in three scenarios', { noDifference: true, units: 3 }, '2a', 'hold', 'no_difference_seen', false],
  ['identical outputs scored differently', { sameOutputs: true, ...better }, '2a', 'hold', 'same_outputs', false],
  ['five scenarios, however bad', { units: 5, ...worse }, '2b', 'underpowered', 'too_few_scenarios', false],
  ['five scenarios, however good', { units: 5, ...better }, '2b', 'underpowered', 'too_few_scenarios', false],
  [
    'five scenarios and missing cells',
    { units: 5, ...worse, coverageShort: true },
    '10',
    'inconclusive',
    'incomplete',
    true,
  ],
  ['harm', worse, '3', 'regress', 'harm_shown', true],
  [
    'harm without the sign-flip test at 10 scenarios',
    { ...worse, p: 0.2, units: 10 },
    '3',
    'regress',
    'harm_shown',
    true,
  ],
  [
    'harm that the sign-flip test does not show at 9',
    { ...worse, p: 0.2, units: 9 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  ['harm that the sign-flip test shows at 6', { ...worse, p: 0.03125, units: 6 }, '3', 'regress', 'harm_shown', true],
  [
    'the same loss everywhere',
    { lower: -1, upper: -1, zeroSpread: true, p: 0.0001 },
    '3',
    'regress',
    'harm_shown',
    true,
  ],
  [
    'the same loss everywhere, not backed',
    { lower: -1, upper: -1, zeroSpread: true, p: 0.2 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  ['an upper bound of 0 is no harm', { lower: -0.2, upper: 0 }, '11', 'inconclusive', 'inconclusive', false],
  ['harm beyond the margin', { ...worse, margin: 0.05 }, '3', 'regress', 'harm_shown', true],
  [
    'harm that may be beyond the margin',
    { lower: -0.2, upper: -0.01, margin: 0.1 },
    '3',
    'regress',
    'harm_shown',
    true,
  ],
  ['harm inside the margin', { lower: -0.08, upper: -0.01, margin: 0.1 }, '8', 'ship', 'non_inferior', false],
  ['harm with missing cells', { ...worse, coverageShort: true }, '3', 'regress', 'harm_shown', true],
  ['a gain on scenarios tuned on', { ...better, exploratory: true }, '6', 'hold', 'exploratory', false],
  ['not worse on scenarios tuned on', { margin: 0.2, exploratory: true }, '6', 'hold', 'exploratory', false],
  ['harm on scenarios tuned on', { ...worse, exploratory: true }, '3', 'regress', 'harm_shown', true],
  ['nothing on scenarios tuned on', { exploratory: true }, '11', 'inconclusive', 'inconclusive', false],
  ['a gain', better, '7', 'ship', 'superior', false],
  [
    'a gain the sign-flip test does not show at 29',
    { ...better, p: 0.06, units: 29 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  ['a gain the sign-flip test does not show at 30', { ...better, p: 0.06, units: 30 }, '7', 'ship', 'superior', false],
  [
    'a gain below the smallest worthwhile one',
    { ...better, minGain: 0.15 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  [
    'the same gain everywhere',
    { lower: 1, upper: 1, zeroSpread: true, p: 0.0001, units: 40 },
    '7',
    'ship',
    'superior',
    false,
  ],
  [
    'the same gain everywhere, not backed',
    { lower: 1, upper: 1, zeroSpread: true, p: 0.2, units: 40 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  ['a gain shown despite missing cells', { ...better, coverageShort: true }, '7', 'ship', 'superior', false],
  ['not worse by the margin', { margin: 0.2 }, '8', 'ship', 'non_inferior', false],
  ['a lower bound at the margin', { margin: 0.1 }, '10', 'underpowered', 'underpowered', false],
  ['not worse with 5 that differ', { margin: 0.2, differing: 5 }, '8', 'hold', 'few_differences', false],
  ['not worse with 6 that differ', { margin: 0.2, differing: 6 }, '8', 'ship', 'non_inferior', false],
  ['not worse at 9 scenarios', { margin: 0.2, units: 9 }, '11', 'inconclusive', 'inconclusive', false],
  [
    'the same small loss everywhere is not equivalence',
    { margin: 0.2, lower: -0.01, upper: -0.01, zeroSpread: true, detectable: null },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  ['no worthwhile gain', { target: 0.15 }, '9', 'hold', 'no_worthwhile_gain', false],
  ['a gain of the target not excluded', { target: 0.1 }, '10', 'underpowered', 'underpowered', false],
  ['no worthwhile gain at 9 scenarios', { target: 0.15, units: 9 }, '11', 'inconclusive', 'inconclusive', false],
  [
    'a gain beside a violated guardrail',
    { ...better, guardrailViolated: true },
    '4',
    'regress',
    'guardrail_violated',
    true,
  ],
  ['harm beside a violated guardrail', { ...worse, guardrailViolated: true }, '3', 'regress', 'harm_shown', true],
  [
    'a violated guardrail at five scenarios',
    { units: 5, guardrailViolated: true },
    '2b',
    'underpowered',
    'too_few_scenarios',
    false,
  ],
  [
    'a violated guardrail on scenarios tuned on',
    { ...better, exploratory: true, guardrailViolated: true },
    '4',
    'regress',
    'guardrail_violated',
    true,
  ],
  [
    'a gain with an open guardrail',
    { ...better, guardrailOpen: true },
    '10',
    'inconclusive',
    'guardrail_unproven',
    false,
  ],
  [
    'not worse with an open guardrail, power lacking',
    { margin: 0.12, guardrailOpen: true },
    '10',
    'inconclusive',
    'guardrail_unproven',
    false,
  ],
  ['nothing shown with an open guardrail', { guardrailOpen: true }, '11', 'inconclusive', 'inconclusive', false],
  [
    'a gain that the bound covers',
    { ...better, bounded: { gain: true, withinMargin: true } },
    '7',
    'ship',
    'superior',
    false,
  ],
  [
    'a gain that the bound does not cover',
    { ...better, bounded: { gain: false, withinMargin: false } },
    '10',
    'inconclusive',
    'bounded_unproven',
    false,
  ],
  [
    'within the margin, the bound too',
    { margin: 0.2, bounded: { gain: false, withinMargin: true } },
    '8',
    'ship',
    'non_inferior',
    false,
  ],
  [
    'within the margin, the bound not',
    { margin: 0.2, bounded: { gain: false, withinMargin: false } },
    '10',
    'inconclusive',
    'bounded_unproven',
    false,
  ],
  [
    'within the margin, but not where differences may be skewed',
    { margin: 0.2, skewedLower: -0.2, target: 0.09 },
    '10',
    'inconclusive',
    'skew_unproven',
    false,
  ],
  [
    'a worthwhile gain, but not where differences may be skewed',
    { ...better, minGain: 0.05, skewedLower: 0.04, target: 0.09 },
    '10',
    'inconclusive',
    'skew_unproven',
    false,
  ],
  ['any gain, skewed or not', { ...better, skewedLower: -0.1 }, '7', 'ship', 'superior', false],
  [
    'within the margin at 9 scenarios, skewed',
    { margin: 0.2, skewedLower: -0.3, units: 9 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  [
    'a gain by a judge that does not carry it',
    { ...better, judgeUnreliable: true },
    '10',
    'inconclusive',
    'judge_unreliable',
    false,
  ],
  [
    'not worse by such a judge, on scenarios tuned on',
    { margin: 0.2, judgeUnreliable: true, exploratory: true },
    '10',
    'inconclusive',
    'judge_unreliable',
    false,
  ],
  ['harm by such a judge', { ...worse, judgeUnreliable: true }, '3', 'regress', 'harm_shown', true],
  [
    'passes and failures of one seed: a gain that the exact test does not show',
    { ...better, tangoLower: 0.05, p: 0.06, units: 40 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  [
    'passes and failures of one seed: a gain that Tango’s interval does not show',
    { ...better, tangoLower: 0, units: 40 },
    '11',
    'inconclusive',
    'inconclusive',
    false,
  ],
  [
    'passes and failures of one seed: a gain that both show',
    { ...better, tangoLower: 0.05, units: 40 },
    '7',
    'ship',
    'superior',
    false,
  ],
  ['missing cells that could decide', { coverageShort: true }, '10', 'inconclusive', 'incomplete', true],
  [
    'missing cells and too little power',
    { coverageShort: true, target: 0.05 },
    '10',
    'inconclusive',
    'incomplete',
    true,
  ],
  ['too little power for the target', { target: 0.09 }, '10', 'underpowered', 'underpowered', false],
  ['too little power for the margin', { margin: 0.09 }, '10', 'underpowered', 'underpowered', false],
  ['power enough and still open', { target: 0.1, detectable: 0.1 }, '11', 'inconclusive', 'inconclusive', false],
  ['nothing asked and nothing shown', {}, '11', 'inconclusive', 'inconclusive', false],
]

describe('the verdict table', () => {
  it.each(ROWS)('%s', (_, evidence, row, outcome, code, red) => {
    const rule = decide(evidenceOf(evidence))
    expect({ row: rule.row, outcome: rule.outcome, code: rule.code, red: rule.red }).toEqual({
      row,
      outcome,
      code,
      red,
    })
  })

  it('every rule has a line above that it alone decides: without it the line comes out otherwise', () => {
    for (const left of RULES) {
      if (left.code === 'inconclusive') continue
      const changes = ROWS.some(([, evidence, , , code]) => {
        const other = RULES.filter((rule) => rule !== left).find((rule) => rule.when(evidenceOf(evidence)))
        return code === left.code && other?.code !== code
      })
      expect(changes, left.code).toBe(true)
    }
  })

  it('the rows stand in the order of the specification', () => {
    expect(RULES.map(({ row }) => row)).toEqual([
      '1',
      '2',
      '2a',
      '2a',
      '2b',
      '3',
      '4',
      '6',
      '7',
      '8',
      '8',
      '9',
      '10',
      '10',
      '10',
      '10',
      '10',
      '10',
      '11',
    ])
    expect(new Set(RULES.map(({ code }) => code)).size).toBe(RULES.length)
  })

  it('refused bounds show nothing', () => {
    expect(
      decide({ ...quiet, lower: null, upper: null, skewedLower: null, margin: 0.2, target: 0.5, p: 0.001 }).code,
    ).toBe('inconclusive')
  })
})

const open: ThresholdEvidence = {
  invalid: false,
  mustPassBroken: false,
  lower: 0.6,
  upper: 0.95,
  threshold: 0.9,
  coverageShort: false,
  judgeUnreliable: false,
}

describe('the table of an atLeast gate', () => {
  const OUTCOMES: { readonly [code: string]: string } = {
    invalid: 'invalid',
    must_pass_broken: 'regress',
    below_threshold: 'regress',
    above_threshold: 'ship',
    judge_unreliable: 'inconclusive',
    incomplete: 'inconclusive',
    threshold_undecided: 'inconclusive',
  }

  it.each<readonly [string, Partial<ThresholdEvidence>, string, string, boolean]>([
    ['invalid', { invalid: true, upper: 0.1 }, '1', 'invalid', true],
    ['must pass', { mustPassBroken: true, lower: 0.95 }, '2', 'must_pass_broken', true],
    ['upper bound below', { upper: 0.89 }, 'at-least', 'below_threshold', true],
    ['upper bound at the threshold', { upper: 0.9 }, '11', 'threshold_undecided', false],
    ['lower bound at the threshold', { lower: 0.9 }, 'at-least', 'above_threshold', false],
    ['lower bound above, cells missing', { lower: 0.9, coverageShort: true }, 'at-least', 'above_threshold', false],
    ['upper bound below, cells missing', { upper: 0.8, coverageShort: true }, 'at-least', 'below_threshold', true],
    ['open, cells missing', { coverageShort: true }, '10', 'incomplete', true],
    ['open', {}, '11', 'threshold_undecided', false],
    [
      'above by a judge that does not carry it',
      { lower: 0.95, judgeUnreliable: true },
      '10',
      'judge_unreliable',
      false,
    ],
    ['below by such a judge', { upper: 0.8, judgeUnreliable: true }, 'at-least', 'below_threshold', true],
    ['no interval', { lower: null, upper: null }, '11', 'threshold_undecided', false],
  ])('%s', (_, evidence, row, code, red) => {
    const rule = decideThreshold({ ...open, ...evidence })
    expect({ row: rule.row, outcome: rule.outcome, code: rule.code, red: rule.red }).toEqual({
      row,
      outcome: OUTCOMES[code],
      code,
      red,
    })
  })

  it('has one rule per code', () => {
    expect(THRESHOLD_RULES.map(({ code }) => code)).toHaveLength(new Set(THRESHOLD_RULES.map(({ code }) => code)).size)
  })
})
