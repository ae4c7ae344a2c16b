import { plural } from '../report/numbers.ts'
import type { AcceptedHeader } from './header.ts'

/** What is compared, as far as it can differ between two runs of a campaign. */
export interface Side {
  readonly fingerprint: string
  /** Of the definition alone; null where only the fingerprint is known. */
  readonly definitionDigest: string | null
  readonly scorerDigest: string
  readonly primary: string
  readonly commit: string | null
  readonly variants: AcceptedHeader['variants']
  readonly scenarios: ReadonlyMap<string, string>
  readonly seeds: readonly number[]
}

/** One line for everything that differs between two sides, in the order of importance. */
export function differencesOf(a: Side, b: Side): string[] {
  const lines: string[] = []
  const say = (what: string, text: string): number => lines.push(`${what}: ${text}`)
  if (a.fingerprint === b.fingerprint) say('fingerprint', 'the same definition and code')
  else if (a.definitionDigest === null || b.definitionDigest === null) say('fingerprint', 'definition or code differ')
  else if (a.definitionDigest === b.definitionDigest) say('fingerprint', 'the same definition, other code')
  else say('fingerprint', 'the definition differs')
  if (a.commit !== b.commit) say('commit', `${a.commit ?? 'unknown'} -> ${b.commit ?? 'unknown'}`)
  const before = new Map(a.variants.map((variant) => [variant.id, variant]))
  const after = new Map(b.variants.map((variant) => [variant.id, variant]))
  for (const [id, { digest, models }] of after) {
    const old = before.get(id)
    if (old === undefined) say(`variant ${id}`, 'only in the second')
    else {
      if (old.digest !== digest) say(`variant ${id}`, 'its contents differ')
      const [then, now] = [modelWords(old.models), modelWords(models)]
      if (then !== now) say(`models of ${id}`, `${then} -> ${now}`)
    }
  }
  for (const id of before.keys()) if (!after.has(id)) say(`variant ${id}`, 'only in the first')
  const changed = [...b.scenarios]
    .filter(([id, digest]) => (a.scenarios.get(id) ?? digest) !== digest)
    .map(([id]) => id)
  const added = [...b.scenarios.keys()].filter((id) => !a.scenarios.has(id))
  const gone = [...a.scenarios.keys()].filter((id) => !b.scenarios.has(id))
  for (const [word, ids] of [
    ['changed', changed],
    ['only in the second', added],
    ['only in the first', gone],
  ] as const) {
    if (ids.length > 0)
      say('scenarios', `${ids.length} ${word} (${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''})`)
  }
  if (a.seeds.join() !== b.seeds.join()) say('seeds', `${listed(a.seeds)} -> ${listed(b.seeds)}`)
  return lines
}

function listed(seeds: readonly number[]): string {
  const first = seeds.slice(0, 5).join(', ')
  return `${plural(seeds.length, 'seed')} (${first}${seeds.length > 5 ? ', …' : ''})`
}

function modelWords({ requested, served }: AcceptedHeader['variants'][number]['models']): string {
  const asked = requested.length === 0 ? 'none' : requested.join('+')
  const answered = served.filter((model) => !requested.includes(model))
  return answered.length === 0 ? asked : `${asked} (${answered.join(', ')})`
}

/** Why two sides cannot be compared at all; null where they can. */
export function incomparable(a: Side, b: Side): string | null {
  if (a.primary !== b.primary) return `they are decided by different scorers, ${a.primary} and ${b.primary}`
  if (a.scorerDigest !== b.scorerDigest)
    return 'they were scored by different scorers: a difference could be the scorers'
  const ids = new Set(a.variants.map(({ id }) => id))
  if (!b.variants.some(({ id }) => ids.has(id))) return 'they have no variant in common'
  if (![...b.scenarios].some(([id, digest]) => a.scenarios.get(id) === digest)) {
    return 'they have no scenario with the same contents in common'
  }
  return null
}
