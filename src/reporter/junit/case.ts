import { inline } from '../inline.ts'
import { characters, element } from './xml.ts'

/** Longest text of one result, code units. */
const LONGEST = 4_000

export interface Case {
  /** Of what it is one, the same in every run: GitLab and Jenkins follow a case by both names. */
  readonly classname: string
  readonly name: string
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped'
  /** Why it is not passed. */
  readonly message?: string
  /** What else is to be said. */
  readonly output?: string
  /** Milliseconds; null where nothing was timed. */
  readonly ms?: number | null
}

export interface Suite {
  readonly name: string
  readonly file: string
  readonly cases: readonly Case[]
}

/** JUnit XML as GitLab, Jenkins (with junit-10.xsd) and the common GitHub actions read it. */
export function junitDocument(name: string, suites: readonly Suite[]): string {
  const named = new Set<string>()
  const body = suites.map((suite) => suiteElement(suite, named))
  const { skipped: _, ...counts } = tally(suites.flatMap(({ cases }) => cases))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    element('testsuites', { name, ...counts }, `\n${body.join('\n')}\n`),
    '',
  ].join('\n')
}

function suiteElement({ name, file, cases }: Suite, named: Set<string>): string {
  const written = cases.map((one) => caseElement(one, named))
  return element(
    'testsuite',
    { name: inline(name, 400), ...tally(cases), file: inline(file, 400) },
    `\n${written.join('\n')}\n`,
  )
}

function caseElement(one: Case, named: Set<string>): string {
  const classname = shown(one.classname)
  const attributes = { classname, name: unique(classname, shown(one.name), named), time: seconds(one.ms ?? null) }
  const { message = '' } = one
  const why = message.trim() === '' ? one.outcome : message
  const parts = [
    one.outcome === 'passed'
      ? ''
      : // Message and text: GitLab shows the text, Jenkins the message.
        element(one.outcome, { message: inline(why, 1_000), type: one.outcome }, characters(why, LONGEST)),
    one.output === undefined || one.output === '' ? '' : element('system-out', {}, characters(one.output, LONGEST)),
  ]
  return element('testcase', attributes, parts.join(''))
}

/** A name has something to read. */
function shown(name: string): string {
  return inline(name, 600) || '(empty)'
}

/** GitLab keeps the first of several cases with the same names and drops the others. */
function unique(classname: string, name: string, named: Set<string>): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name} (${n})`
    const key = `${classname}\n${candidate}`
    if (named.has(key)) continue
    named.add(key)
    return candidate
  }
}

function tally(cases: readonly Case[]) {
  const of = (outcome: Case['outcome']): string => String(cases.filter((one) => one.outcome === outcome).length)
  const timed = cases.flatMap(({ ms }) => (ms === null || ms === undefined ? [] : [ms]))
  return {
    tests: String(cases.length),
    failures: of('failure'),
    errors: of('error'),
    skipped: of('skipped'),
    time: timed.length === 0 ? null : seconds(timed.reduce((sum, ms) => sum + ms, 0)),
  }
}

/** Seconds with three decimals, as junit-10.xsd has them. */
function seconds(ms: number | null): string | null {
  return ms === null ? null : (ms / 1_000).toFixed(3)
}
