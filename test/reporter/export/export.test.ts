import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { printable } from '../../../src/core/traffic/hostile.ts'
import { csvOf } from '../../../src/reporter/export/csv.ts'
import { jsonLineOf } from '../../../src/reporter/export/json-lines.ts'
import { planOf, recordsOf } from '../../core/report/records.ts'

const plan = planOf({ scenarios: [{ id: 'vat-id' }, { id: 'a, "b"', family: 'letters' }], seeds: 2 })
const records = recordsOf(plan, ({ variant, scenario, seed }) =>
  scenario !== 'vat-id'
    ? 1
    : variant === 'concise'
      ? {
          status: 'infra_error',
          reason: 'provider-fault',
          wallMs: null,
          failure: { class: 'unknown', message: 'a\nb' },
        }
      : {
          score: 0.5,
          metrics: { characters: -3 },
          tags: { team: '=HYPERLINK("http://evil.example")' },
          scores: { label: { value: 0.5, pass: false, role: 'code', rationale: `seed ${seed}` } },
        },
)

/** The rows as a reader of CSV sees them: by RFC 4180, every row as wide as the first. */
function read(text: string): Record<string, string>[] {
  return parse(text, { columns: true, record_delimiter: '\r\n', relax_column_count: false })
}
const csv = (of: readonly RunRecord[]): string => [...csvOf(() => of)].join('')

describe('CSV', () => {
  test('golden', async () => {
    await expect(csv(records)).toMatchFileSnapshot('../__golden__/records.csv')
  })

  test('has a row per cell, unknown as an empty field, names in columns of their own', () => {
    const rows = read(csv(records))
    expect(rows).toHaveLength(records.length)
    expect(rows[0]).toMatchObject({
      variantId: 'current',
      scenarioId: 'vat-id',
      score: '0.5',
      pass: 'false',
      family: '',
      'metrics.characters': '-3',
      'scores.label.rationale': 'seed 0',
    })
    expect(rows.find(({ status }) => status === 'infra_error')).toMatchObject({
      score: '',
      wallMs: '',
      reason: 'provider-fault',
      'failure.message': 'a\nb',
      'metrics.characters': '',
    })
    expect(rows.find(({ family }) => family === 'letters')?.scenarioId).toBe('a, "b"')
  })

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', ' =1', '\t=1', '\r=1', '＝1', '－1'])('%j is no formula', (text) => {
    const [row] = read(csv(records.slice(0, 1).map((record) => ({ ...record, lane: text }))))
    expect(row?.lane).not.toMatch(/^\s*[=+\-@＝＋－＠]/)
    expect(row?.lane).toContain(text.slice(-1))
  })

  test('any text comes back as it is shown, and begins no formula', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('"', ',', '\r', '\n', '\r\n', '=', '-', ' ', 'a', "'", '\u0000', '::', '\u202e', '＝'),
    })
    fc.assert(
      fc.property(hostile, hostile, hostile, (lane, message, name) => {
        const [first] = records
        if (first === undefined) throw new Error('no record')
        const hostileRecord = {
          ...first,
          lane,
          failure: { class: 'unknown', message } as const,
          tags: { [`tag ${name}`]: message },
        }
        const [row] = read(csv([hostileRecord]))
        const shown = (text: string): string[] => [printable(text), `'${printable(text)}`]
        expect(shown(lane)).toContain(row?.lane)
        expect(shown(message)).toContain(row?.['failure.message'])
        for (const value of Object.values(row ?? {})) {
          if (!/^-?\d/.test(value)) expect(value).not.toMatch(/^\s*[=+\-@＝＋－＠]/)
        }
      }),
    )
  })
})

describe('JSON lines', () => {
  test('are the same values, and nothing in them acts', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('##[', '#', '\u001b[31m', '\u202e', '\u2028', '::error::', '\u0085', 'a') }),
        (text) => {
          const value = { text, [text]: 1 }
          const line = jsonLineOf(JSON.stringify(value))
          expect(JSON.parse(line)).toEqual(value)
          expect(printable(line)).toBe(line)
          expect(line.indexOf('\n')).toBe(line.length - 1)
        },
      ),
    )
  })
})
