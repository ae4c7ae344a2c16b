import { expect } from 'vitest'
import { type Element, elementsOf } from '../well-formed-xml.ts'

/** Elements and attributes of junit-10.xsd (jenkinsci/xunit-plugin, types/model/xsd): anything else refuses the file. */
const XSD: {
  readonly [element: string]: {
    readonly needs: readonly string[]
    readonly may: readonly string[]
    readonly holds: readonly string[]
  }
} = {
  testsuites: { needs: [], may: ['name', 'time', 'tests', 'failures', 'errors'], holds: ['testsuite'] },
  testsuite: {
    needs: ['name', 'tests', 'failures', 'errors'],
    may: ['group', 'time', 'skipped', 'timestamp', 'hostname', 'id', 'package', 'file', 'log', 'url', 'version'],
    holds: ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
  },
  testcase: {
    needs: ['name'],
    may: ['time', 'classname', 'group'],
    holds: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  failure: { needs: [], may: ['type', 'message'], holds: [] },
  error: { needs: [], may: ['type', 'message'], holds: [] },
  skipped: { needs: [], may: ['type', 'message'], holds: [] },
  'system-out': { needs: [], may: [], holds: [] },
}

/** SUREFIRE_TIME of junit-10.xsd. */
const TIME = /^(?:(?:\d{0,3},)*\d{3}|\d{0,3})*(?:\.\d{0,3})?$/

/** Checks a document against the rules of those who read it, each named. */
export function expectReadable(root: Element): void {
  for (const element of elementsOf(root)) jenkins(element)
  gitlab(root)
  githubActions(root)
}

function jenkins({ name, attributes, children }: Element): void {
  const rule = XSD[name]
  expect(rule, `junit-10.xsd has no element ${name}`).toBeDefined()
  if (rule === undefined) return
  const given = Object.keys(attributes)
  for (const needed of rule.needs) expect(given, `${name} needs ${needed}`).toContain(needed)
  for (const one of given) expect([...rule.needs, ...rule.may], `${name} may not have ${one}`).toContain(one)
  for (const child of children) expect(rule.holds, `${name} may not hold ${child.name}`).toContain(child.name)
  if (attributes.time !== undefined) expect(attributes.time).toMatch(TIME)
  // jenkinsci/junit-plugin, CaseResult: a case has one result; the first of error and failure is shown.
  if (name === 'testcase') {
    expect(children.filter((child) => child.name !== 'system-out').length).toBeLessThanOrEqual(1)
    expect(children.filter((child) => child.name === 'system-out').length).toBeLessThanOrEqual(1)
  }
}

/** gitlabhq, lib/gitlab/ci/parsers/test/junit.rb and docs.gitlab.com/ci/testing/unit_test_reports. */
function gitlab(root: Element): void {
  expect(root.name).toBe('testsuites')
  const keys = new Set<string>()
  let cases = 0
  for (const { name, attributes, children, text } of elementsOf(root)) {
    // The text of a result is what is shown.
    if (name === 'failure' || name === 'error' || name === 'skipped') expect(text).not.toBe('')
    if (name !== 'testcase') continue
    cases++
    // Shown as the suite, and half of a case's key: of several cases with one key the first is kept.
    expect(attributes.classname).toBeTruthy()
    expect(attributes.name).toBeTruthy()
    keys.add(`${attributes.classname}_${attributes.name}`)
    for (const child of children) expect(child.text).not.toMatch(/\[\[ATTACHMENT\|/)
  }
  expect(keys.size).toBe(cases)
}

/** mikepenz/action-junit-report (testParser.ts) and dorny/test-reporter (java-junit, jest-junit). */
function githubActions(root: Element): void {
  const all = [...elementsOf(root)]
  for (const suite of all.filter(({ name }) => name === 'testsuite')) {
    // dorny trims the name and reads no suite without one; both count the cases themselves.
    expect(suite.attributes.name?.trim()).toBeTruthy()
    const of = (outcome: string): number =>
      suite.children.filter(({ children }) => children.some(({ name }) => name === outcome)).length
    expect(suite.attributes).toMatchObject({
      tests: String(suite.children.length),
      failures: String(of('failure')),
      errors: String(of('error')),
      skipped: String(of('skipped')),
    })
  }
  for (const { name, attributes } of all) {
    // dorny multiplies it, mikepenz shows it: a number where it is there.
    if (attributes.time !== undefined) expect(Number.isFinite(Number(attributes.time))).toBe(true)
    // mikepenz takes the message for the annotation, else the text, else the name.
    if (name === 'failure' || name === 'error') expect(attributes.message).toBeTruthy()
  }
}
