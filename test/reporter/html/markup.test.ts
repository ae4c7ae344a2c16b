import fc from 'fast-check'
import { parseFragment } from 'parse5'
import { describe, expect, test } from 'vitest'
import { indented } from '../../../src/reporter/html/indent.ts'
import { block, html, ownCode } from '../../../src/reporter/html/markup.ts'
import { cut, label } from '../../../src/reporter/html/text.ts'
import { visible } from '../../../src/reporter/html/visible.ts'
import { anyText, textOf } from './parsed.ts'

describe('a template', () => {
  test('keeps any text as text, in an element and in an attribute', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const errors: string[] = []
        const fragment = parseFragment(String(html`<p title="${text}">${text}</p>`), {
          onParseError: ({ code }) => errors.push(code),
        })
        const [paragraph, ...others] = fragment.childNodes
        expect({ errors, others }).toEqual({ errors: [], others: [] })
        if (paragraph === undefined || !('attrs' in paragraph)) throw new Error('no element')
        expect(paragraph.attrs).toEqual([{ name: 'title', value: visible(text) }])
        expect(textOf(paragraph)).toBe(visible(text))
      }),
    )
  })

  test('leaves out nothing, and nests markup and lists of it', () => {
    expect(String(html`<ul>${['a', 'b'].map((item) => html`<li>${item}</li>`)}${null}${3}</ul>`)).toBe(
      '<ul><li>a</li><li>b</li>3</ul>',
    )
  })

  test('a block keeps its first newline and tells what it spelled out apart', () => {
    expect(String(block('\n\u001b[31mred\\x1b'))).toBe('<pre>\n\n<b class="c">\\x1b</b>[31mred\\x1b</pre>')
    const [pre] = parseFragment(String(block('\nx'))).childNodes
    expect(pre === undefined ? '' : textOf(pre)).toBe('\nx')
  })

  test('own code that could end its element is refused', () => {
    for (const code of ['a</script>', 'a</STYLE', '<!-- x'])
      expect(() => ownCode(code)).toThrow('could end its element')
  })
})

describe('what is not seen is spelled out', () => {
  test.each([
    ['\u001b[31mred', '\\x1b[31mred'],
    ['admin\u202etxt.exe', 'admin\\u202etxt.exe'],
    ['a\u200bb\u00ad', 'a\\u200bb\\xad'],
    ['\u{e0041}\u{e0042}', '\\u{e0041}\\u{e0042}'],
    ['\u0000\r\n', '\\x00\\x0d\n'],
    ['\ufdd0\uffff', '\\ufdd0\\uffff'],
    ['\ud800x', '\\ud800x'],
    ['\u2028\u3164', '\\u2028\\u3164'],
  ])('%j', (text, shown) => {
    expect(visible(text)).toBe(shown)
  })

  test.each(['plain', 'tab\tand\nline', '👨‍👩‍👧 ❤️ naïve 日本語', '::error::x', '</script>'])('%j stays', (text) => {
    expect(visible(text)).toBe(text)
  })

  test('once is enough', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visible(visible(text))).toBe(visible(text))
      }),
    )
  })
})

describe('texts are cut', () => {
  test('never inside a character, and to the length asked for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const shown = cut(text, max)
        expect(shown.length).toBeLessThanOrEqual(max)
        expect(shown.isWellFormed()).toBe(true)
      }),
    )
  })

  test('a label is one line, and never nothing', () => {
    expect(label(' a\n b ')).toBe('a b')
    expect(label('')).toBe('(empty)')
    expect(label('x'.repeat(500))).toHaveLength(120)
  })
})

describe('JSON on one line is broken into lines', () => {
  test('with every token as it was sent', () => {
    expect(indented('{"a":[1.0,1e2,"x, {y}"],"b":{},"c":[],"\\u0041":9007199254740993}')).toBe(
      '{\n  "a": [\n    1.0,\n    1e2,\n    "x, {y}"\n  ],\n  "b": {},\n  "c": [],\n  "\\u0041": 9007199254740993\n}',
    )
  })

  test('and says the same', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(JSON.parse(indented(text)))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  test('but not what is no JSON, has its own lines, is very long or very deep', () => {
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`
    for (const text of ['{x', '{"a":\n1}', '"text"', `["${'x'.repeat(70_000)}"]`, deep])
      expect(indented(text)).toBe(text)
  })
})
