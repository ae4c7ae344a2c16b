import { describe, expect, test } from 'vitest'
import { type PolicyFacts, trafficPolicy } from '../../../src/plugin/pool/policy.ts'

const facts: PolicyFacts = { mode: 'auto', envMode: undefined, snapshots: 'new', named: true, ui: false }

describe('how provider calls are answered', () => {
  test.each<[what: string, given: Partial<PolicyFacts>, traffic: string]>([
    ['a laptop replays what is recorded and records the rest', {}, 'new'],
    ['CI replays strictly', { snapshots: 'none' }, 'replay'],
    ['-u records again', { snapshots: 'all' }, 'record'],
    ['mode live', { mode: 'live' }, 'live'],
    ['mode live in CI', { mode: 'live', snapshots: 'none' }, 'live'],
    ['mode record', { mode: 'record' }, 'record'],
    ['mode replay with -u', { mode: 'replay', snapshots: 'all' }, 'replay'],

    ['a bare command buys nothing', { named: false }, 'replay'],
    ['a bare -u, meant for snapshots, buys nothing', { named: false, snapshots: 'all' }, 'replay'],
    ['a bare command with mode live buys nothing', { named: false, mode: 'live' }, 'replay'],
    ['a bare command with mode record buys nothing', { named: false, mode: 'record' }, 'replay'],
    ['the UI buys nothing', { ui: true }, 'replay'],
    ['the UI with -u buys nothing', { ui: true, snapshots: 'all' }, 'replay'],
    ['the UI with mode live buys nothing', { ui: true, mode: 'live' }, 'replay'],

    ['EVALS_MODE wins over mode', { envMode: 'live', mode: 'replay' }, 'live'],
    ['EVALS_MODE wins over CI', { envMode: 'record', snapshots: 'none' }, 'record'],
    ['EVALS_MODE wins over a bare command', { envMode: 'live', named: false }, 'live'],
    ['EVALS_MODE wins over the UI', { envMode: 'live', ui: true }, 'live'],
    ['EVALS_MODE=replay wins over mode live', { envMode: 'replay', mode: 'live' }, 'replay'],
    ['EVALS_MODE=auto allows what a bare command does not', { envMode: 'auto', named: false }, 'new'],
    ['EVALS_MODE=auto wins over mode', { envMode: 'auto', mode: 'live', snapshots: 'none' }, 'replay'],
    ['EVALS_MODE=auto with -u', { envMode: 'auto', named: false, snapshots: 'all' }, 'record'],
    ['an empty EVALS_MODE is none', { envMode: '', named: false }, 'replay'],
  ])('%s', (_, given, traffic) => {
    expect(trafficPolicy({ ...facts, ...given }).traffic).toBe(traffic)
  })

  test.each<[given: Partial<PolicyFacts>, reason: RegExp]>([
    [{ snapshots: 'none' }, /CI/],
    [{ named: false }, /neither the project nor an eval file.*--project.*EVALS_MODE/],
    [{ ui: true }, /UI.*EVALS_MODE/],
    [{ envMode: 'live' }, /EVALS_MODE=live/],
    [{ mode: 'live' }, /mode: 'live'/],
    [{ snapshots: 'all' }, /-u/],
  ])('%j says why', (given, reason) => {
    expect(trafficPolicy({ ...facts, ...given }).reason).toMatch(reason)
  })

  test.each(['Live', 'none', 'true', ' live'])('EVALS_MODE=%j is refused with the modes there are', (envMode) => {
    expect(() => trafficPolicy({ ...facts, envMode })).toThrow(
      /^EVALS_MODE="\s?\w+" is no mode; (did you mean live\? )?use one of auto, live, record, replay$/,
    )
  })
})
