import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../../src/core/traffic/hostile.ts'

describe('printable', () => {
  it.each([
    ['colour', '\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['a carriage return, which overwrites the line', 'FAIL\rPASS', 'FAIL\\x0dPASS'],
    ['a single-byte CSI', '\x9b2J', '\\x9b2J'],
    ['bidi overrides', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['a line separator', 'a\u2028::error::x', 'a\\u2028::error::x'],
    ['a lone surrogate', 'a\ud800b', 'a\\ud800b'],
    ['a GitHub command', '::error file=x::boo', '\\::error file=x::boo'],
    ['a command behind blanks, on a later line', 'ok\n \t::set-output name=x::y', 'ok\n \t\\::set-output name=x::y'],
    ['an Azure command', 'x\n##[error]boo', 'x\n#\\#[error]boo'],
    [
      'plain text',
      'Grüße, 世界 👨‍👩‍👧\n\tindented # heading :: fine',
      'Grüße, 世界 👨‍👩‍👧\n\tindented # heading :: fine',
    ],
  ])('%s', (_, text, shown) => expect(printable(text)).toBe(shown))

  it('takes a million line ends as they are', () => {
    const text = '\n'.repeat(1_000_000)
    expect(printable(text)).toBe(text)
  })

  it('cuts', () => {
    expect(printable('abcdef', { max: 3 })).toBe('abc…')
    expect(printable('abc', { max: 3 })).toBe('abc')
    expect(printable('ab👋', { max: 3 })).not.toMatch(/\p{Cs}/u)
  })

  it('leaves nothing active, for any text, and is stable on its own output', () => {
    const nasty = fc.string({
      unit: fc.constantFrom(
        '\x1b',
        '\r',
        '\n',
        '\t',
        ' ',
        ':',
        '#',
        '[',
        '\u202e',
        '\ud83d',
        '\udc4b',
        'a',
        '\x9b',
        '\\',
      ),
    })
    fc.assert(
      fc.property(nasty, fc.option(fc.nat(30), { nil: undefined }), (text, max) => {
        const shown = printable(text, { ...(max === undefined ? {} : { max }) })
        expect(shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u)
        for (const line of shown.split('\n')) expect(line.trimStart()).not.toMatch(/^::|##\w*\[/)
        expect(printable(shown)).toBe(shown)
      }),
    )
  })
})
