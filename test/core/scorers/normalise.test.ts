import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failedScore, InvalidScoreError, normaliseScore, type ScoredBy } from '../../../src/core/scorers/normalise.ts'

const unit: ScoredBy = { name: 'label', role: 'code', scale: [0, 1], passAt: null }
const stars: ScoredBy = { name: 'stars', role: 'judge', scale: [1, 5], passAt: 4 }
const free: ScoredBy = { name: 'length', role: 'command', scale: null, passAt: null }

test.each<[string, ScoredBy, unknown, object]>([
  ['true', unit, true, { value: 1, pass: true, role: 'code' }],
  ['false', unit, false, { value: 0, pass: false, role: 'code' }],
  ['a number', unit, 0.5, { value: 0.5, pass: null, role: 'code' }],
  ['no opinion', unit, null, { value: null, pass: null, role: 'code' }],
  ['the bottom of the scale', unit, 0, { value: 0, pass: null, role: 'code' }],
  ['passAt reached', stars, 4, { value: 4, pass: true, role: 'judge' }],
  ['passAt missed', stars, 3.9, { value: 3.9, pass: false, role: 'judge' }],
  ['an explicit pass', stars, { value: 2, pass: true }, { value: 2, pass: true, role: 'judge' }],
  ['an explicit null', stars, { value: 5, pass: null }, { value: 5, pass: null, role: 'judge' }],
  ['a rationale', unit, { value: true, rationale: 'ok' }, { value: 1, pass: true, rationale: 'ok', role: 'code' }],
  [
    'no opinion with a rationale',
    unit,
    { value: null, rationale: 'x' },
    { value: null, pass: null, rationale: 'x', role: 'code' },
  ],
  ['without bounds', free, 12_345, { value: 12_345, pass: null, role: 'command' }],
  ['a boolean without bounds', free, true, { value: 1, pass: true, role: 'command' }],
])('%s', (_, scorer, given, recorded) => {
  expect(normaliseScore(scorer, given)).toEqual(recorded)
})

describe('no score', () => {
  test.each<[string, ScoredBy, unknown, RegExp]>([
    ['undefined', unit, undefined, /gave undefined/],
    ['text', unit, 'good', /gave "good"/],
    ['a list', unit, [1], /gave an array/],
    ['a function', unit, () => 1, /gave a function/],
    ['NaN', unit, Number.NaN, /gave NaN/],
    ['Infinity', free, Number.POSITIVE_INFINITY, /gave Infinity/],
    ['-Infinity', unit, Number.NEGATIVE_INFINITY, /gave -Infinity/],
    ['above the scale', unit, 1.01, /outside its scale \[0, 1\]/],
    ['below the scale', stars, 0, /outside its scale \[1, 5\]/],
    ['a boolean on another scale', stars, true, /on the scale \[1, 5\]/],
    ['an empty object', unit, {}, /gave undefined as value/],
    ['another key', unit, { score: 1 }, /"score"/],
    ['a bad pass', unit, { value: 1, pass: 1 }, /pass/],
    ['a bad rationale', unit, { value: 1, rationale: 1 }, /rationale/],
    ['a pass without value', unit, { value: null, pass: true }, /without a value/],
    ['NaN as value', unit, { value: Number.NaN }, /gave NaN/],
  ])('%s', (_, scorer, given, says) => {
    expect(() => normaliseScore(scorer, given)).toThrow(InvalidScoreError)
    expect(() => normaliseScore(scorer, given)).toThrow(says)
    expect(() => normaliseScore(scorer, given)).toThrow(`scorer "${scorer.name}"`)
  })
})

test('whatever a scorer gives, the value is on the scale or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.double(), fc.record({ value: fc.double() })), (given) => {
      try {
        const { value } = normaliseScore(unit, given)
        expect(value === null || (value >= 0 && value <= 1)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidScoreError)
      }
    }),
  )
})

test('a scorer that threw has no value', () => {
  expect(failedScore(stars, 'x'.repeat(3000))).toMatchObject({ value: null, pass: null, role: 'judge' })
  expect(failedScore(stars, 'x'.repeat(3000)).error).toHaveLength(2000)
})
