import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Annotated, annotations } from '../../../src/reporter/github/annotations.ts'
import { candidate, HOLD, REGRESS, REPORTS, report, UNDERPOWERED } from '../reports.ts'

const at = (one: Annotated['report'], part: Partial<Annotated> = {}): Annotated => ({
  report: one,
  file: 'evals/triage.eval.ts',
  told: false,
  ...part,
})

interface Command {
  readonly level: string
  readonly properties: { readonly [name: string]: string }
  readonly message: string
}

/**
 * Reads a line as the runner does (actions/runner, Runner.Common/ActionCommand.cs): blanks before `::` are skipped, the
 * properties end at the next `::` and are split at commas, then everything is unescaped. Null: no command.
 */
function read(line: string): Command | null {
  const trimmed = line.trimStart()
  if (!trimmed.startsWith('::')) return null
  const end = trimmed.indexOf('::', 2)
  if (end < 0) return null
  const [level = '', ...rest] = trimmed.slice(2, end).split(' ')
  const properties = rest
    .join(' ')
    .split(',')
    .map((pair) => pair.split(/=(.*)/s))
    .map(([name = '', value = '']) => [name, decoded(value, true)] as const)
  return { level, properties: Object.fromEntries(properties), message: decoded(trimmed.slice(end + 2), false) }
}

function decoded(value: string, property: boolean): string {
  const data = value.replace(/%0D/g, '\r').replace(/%0A/g, '\n')
  return (property ? data.replace(/%3A/g, ':').replace(/%2C/g, ',') : data).replace(/%25/g, '%')
}

/** Worst changes, the first of them the largest loss. */
const losses = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    scenario: `s${i}`,
    comparator: 1,
    candidate: 0,
    delta: -1,
    comparatorSeeds: '3/3',
    candidateSeeds: '0/3',
    flaky: { comparator: false, candidate: false },
  }))

const red = (id: string, scenarios: number) =>
  report({
    campaignId: id,
    verdict: { ...REGRESS.verdict },
    candidates: [candidate('concise', { outcome: 'regress', rule: '3', worst: losses(scenarios) })],
  })

describe('annotations', () => {
  test('of a red gate: an error with the verdict on the line of the campaign, then the worst scenarios', () => {
    const [first, second, ...rest] = annotations([at(red('triage', 3))], { errors: 0 }).map(read)
    expect(first).toEqual({
      level: 'error',
      properties: { file: 'evals/triage.eval.ts', line: '12', title: 'FAIL: triage' },
      message: REGRESS.verdict.headline,
    })
    expect(second).toEqual({
      level: 'warning',
      properties: { file: 'evals/triage.eval.ts', line: '12', title: 'triage: concise' },
      message: 's0: 3/3 → 0/3, −100.0 pp',
    })
    expect(rest).toHaveLength(2)
  })

  test.each([
    [HOLD, 'notice'],
    [UNDERPOWERED, 'warning'],
  ])('of a green gate: the verdict alone, %#', (fixed, level) => {
    const commands = annotations([at(fixed)], { errors: 0 }).map(read)
    expect(commands.map((command) => command?.level)).toEqual([level])
  })

  test('are ten in all, verdicts before scenarios and the worst before the others', () => {
    const many = [at(HOLD), at(red('a', 30)), at(UNDERPOWERED), at(red('b', 30))]
    const commands = annotations(many, { errors: 0 }).map(read)
    expect(commands).toHaveLength(10)
    expect(commands.slice(0, 4).map((command) => command?.level)).toEqual(['error', 'error', 'warning', 'notice'])
    expect(annotations([at(red('a', 30))], { errors: 0 })).toHaveLength(10)
    expect(
      annotations(
        Array.from({ length: 30 }, () => at(HOLD)),
        { errors: 0 },
      ),
    ).toHaveLength(10)
  })

  test('name a broken must-pass scenario once, before the losses', () => {
    const broken = report({
      ...REGRESS,
      candidates: [
        candidate('concise', {
          outcome: 'regress',
          rule: '2',
          worst: losses(2),
          mustPass: { scenarios: 1, broken: [{ scenario: 's0', failedSeeds: [0, 2] }] },
        }),
      ],
    })
    const messages = annotations([at(broken)], { errors: 0 }).map((line) => read(line)?.message)
    expect(messages.slice(1)).toEqual(['must-pass scenario s0 failed (2 seeds)', 's1: 3/3 → 0/3, −100.0 pp'])
  })

  test('leave a verdict out that is told already, and its place too', () => {
    const commands = annotations([at(red('a', 30), { told: true })], { errors: 1 }).map(read)
    expect(commands).toHaveLength(9)
    expect(commands.every((command) => command?.level === 'warning')).toBe(true)
  })

  test('make the verdict a warning where ten errors would hide it', () => {
    expect(read(annotations([at(REGRESS)], { errors: 10 })[0] ?? '')?.level).toBe('warning')
  })

  test.each(Object.entries(REPORTS))('of %s are commands', (_, fixed) => {
    for (const line of annotations([at(fixed)], { errors: 0 })) expect(read(line)).not.toBeNull()
  })

  test('golden', async () => {
    const lines = annotations([at(REGRESS), at(HOLD)], { errors: 0 })
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../__golden__/annotations.txt')
  })
})

describe('text of others', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      ':',
      ',',
      '%',
      '\n',
      '\r',
      '=',
      'a',
      ' ',
      '##[',
      '::error::',
      '\u001b[31m',
      '\u202e',
      '\u2028',
      '%0A',
    ),
  })

  test('can neither end its command nor begin another', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (headline, id, scenario, file) => {
        const bad = report({
          campaignId: id,
          verdict: { ...REGRESS.verdict, headline },
          candidates: [
            candidate(id, {
              outcome: 'regress',
              worst: losses(1).map((change) => ({ ...change, scenario, candidateSeeds: scenario })),
            }),
          ],
        })
        const lines = annotations([at(bad, { file })], { errors: 0 })
        expect(lines).toHaveLength(2)
        for (const line of lines) {
          expect(line).not.toMatch(/[\n\r\u2028\u2029\u001b\u202e]|##\w*\[/)
          const command = read(line)
          expect(Object.keys(command?.properties ?? {})).toEqual(['file', 'line', 'title'])
          expect(command?.properties.line).toBe('12')
        }
      }),
    )
  })

  test('is short enough for the runner, which cuts at 4,096 characters', () => {
    const long = report({ verdict: { ...REGRESS.verdict, headline: '%\n'.repeat(5_000) } })
    expect(read(annotations([at(long)], { errors: 0 })[0] ?? '')?.message.length).toBeLessThan(4_096)
  })
})
