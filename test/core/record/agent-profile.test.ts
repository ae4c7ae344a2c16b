import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { AgentProfile, agentProfileOf } from '../../../src/core/record/agent-profile.ts'

const full = {
  id: 'triage@1.2.0',
  source: { kind: 'agent-file', profile: { tools: ['search'], prompt: 'be brief' } },
  harness: { id: 'loop', version: '3' },
  model: 'gpt-5-mini',
  promptHash: digestOf('prompt'),
  dimensions: { temperature: 0, style: 'terse', tools: true, note: null },
} as const

describe('a profile', () => {
  test('is addressed by all of its content', () => {
    const { digest } = agentProfileOf(full)
    const other = [
      { ...full, id: 'triage@1.2.1' },
      { ...full, source: { ...full.source, profile: { ...full.source.profile, prompt: 'be long' } } },
      { ...full, source: { ...full.source, kind: 'other' } },
      { ...full, harness: { id: 'loop' } },
      { ...full, model: 'gpt-5' },
      { ...full, promptHash: digestOf('other') },
      { ...full, dimensions: { ...full.dimensions, temperature: 1 } },
    ].map((changed) => agentProfileOf(changed).digest)
    expect(new Set([digest, ...other]).size).toBe(other.length + 1)
    const reordered = { ...full, dimensions: { tools: true, style: 'terse', note: null, temperature: 0 } }
    expect(agentProfileOf(reordered).digest).toBe(digest)
    expect(agentProfileOf({ ...full, model: undefined, dimensions: {} }).digest).toBe(
      agentProfileOf({ id: full.id, source: full.source, harness: full.harness, promptHash: full.promptHash }).digest,
    )
  })

  test('keeps the digest of its definition, not the definition', () => {
    const kept = agentProfileOf(full)
    expect(JSON.stringify(kept)).not.toContain('be brief')
    expect(agentProfileOf({ ...full, source: { kind: 'agent-file', hash: kept.source.hash } })).toEqual(kept)
  })

  test('verifies as stored, and not when somebody changed it', () => {
    const kept = agentProfileOf(full)
    expect(AgentProfile.parse(JSON.parse(JSON.stringify(kept)))).toEqual(kept)
    for (const changed of [
      { ...kept, model: 'gpt-5' },
      { ...kept, digest: digestOf('x') },
      { ...kept, extra: 1 },
    ]) {
      expect(AgentProfile.safeParse(changed).success).toBe(false)
    }
    const name = fc.string({ minLength: 1 })
    fc.assert(
      fc.property(name, fc.dictionary(name, fc.oneof(fc.string(), fc.boolean(), fc.integer())), (id, dimensions) => {
        const any = agentProfileOf({ id, source: { kind: 'k', profile: null }, dimensions })
        expect(AgentProfile.safeParse(JSON.parse(JSON.stringify(any))).success).toBe(true)
      }),
    )
  })

  test('is redacted before it is addressed', () => {
    const kept = agentProfileOf({ ...full, dimensions: { key: 'sk-1' } }, (value) =>
      JSON.parse(JSON.stringify(value).replace('sk-1', '[redacted]')),
    )
    expect(kept.dimensions).toEqual({ key: '[redacted]' })
    expect(AgentProfile.safeParse(kept).success).toBe(true)
  })

  test.each<[string, object, RegExp]>([
    ['no id', { source: full.source }, /^profile\.id: /],
    [
      'hash and definition',
      { id: 'a', source: { kind: 'k', hash: 'a'.repeat(64), profile: {} } },
      /exactly one of `hash`/,
    ],
    ['neither', { id: 'a', source: { kind: 'k' } }, /exactly one of `hash`/],
    ['a hash that is none', { id: 'a', source: { kind: 'k', hash: 'ABC' } }, /^profile\.source/],
    ['an unknown member', { ...full, agent: 'x' }, /^profile: .*agent/],
    ['a dimension that is no plain value', { ...full, dimensions: { a: [] } }, /^profile\.dimensions\.a/],
    ['a dimension that is no number', { ...full, dimensions: { a: Number.NaN } }, /^profile\.dimensions\.a/],
    [
      'a definition that is no JSON',
      { id: 'a', source: { kind: 'k', profile: { at: new Date() } } },
      /^profile\.source/,
    ],
    ['text', 'agent' as never, /^profile: /],
  ])('with %s is refused, naming the member', (_, given, message) => {
    expect(() => agentProfileOf(given)).toThrow(message)
  })
})
