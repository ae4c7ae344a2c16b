import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from '../../../src/core/capacity/glob.ts'

test.each([
  ['openai/*', 'openai/gpt-5-mini', true],
  ['openai/*', 'openai/', true],
  ['openai/*', 'azure-openai/gpt-5', false],
  ['*', '', true],
  ['*', 'anything/at all', true],
  ['*/gpt-*-mini', 'openai/gpt-5-mini', true],
  ['*/gpt-*-mini', 'openai/gpt-5-nano', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['ab*ba', 'aba', false],
  ['*b*b*', 'ab', false],
  ['openai/gpt-4.1', 'openai/gpt-4x1', false],
  ['OpenAI/*', 'openai/gpt-5', false],
  ['', '', true],
  ['', 'a', false],
])('%j on %j is %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected)
})

test('agrees with the regular expression it stands for', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 8 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 })
  fc.assert(
    fc.property(patterns, letters, (pattern, text) => {
      const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*')
      expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${source}$`, 's').test(text))
    }),
    { numRuns: 1000 },
  )
})
