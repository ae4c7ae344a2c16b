import { type Line, plain } from './line.ts'

/** A part of the page: its groups may be hidden from the end, its head and tail never. */
export interface Section {
  readonly head: readonly Line[]
  /** Lines that stand or fall together. */
  readonly groups: readonly (readonly Line[])[]
  readonly tail: readonly Line[]
  /** Groups that a reader expects to see; what goes beyond is hidden first. */
  readonly fair: number
  /** Groups that stay whatever happens. */
  readonly least: number
  /** What a hidden group is called; null: hidden without a word, because another line says the same. */
  readonly noun: readonly [one: string, many: string] | null
  /** A blank line before it, where the page has room. */
  readonly spaced: boolean
}

export function section(part: Partial<Section>): Section {
  return { head: [], groups: [], tail: [], fair: 0, least: 0, noun: null, spaced: false, ...part }
}

/**
 * Joins sections into at most `longest` lines: blank lines go first, then groups of the section that is furthest beyond
 * its fair share, one at a time; what was hidden is counted. Null is no limit.
 */
export function page(sections: readonly Section[], longest: number | null): Line[] {
  const filled = sections.filter((part) => part.head.length + part.groups.length + part.tail.length > 0)
  const shown = filled.map((part) => part.groups.length)
  let spaced = true
  const render = (): Line[] =>
    filled.flatMap((part, at) => {
      const kept = shown[at] ?? 0
      const hidden = part.groups.length - kept
      return [
        ...(spaced && part.spaced && at > 0 ? [plain('')] : []),
        ...part.head,
        ...part.groups.slice(0, kept).flat(),
        ...(hidden > 0 && part.noun !== null ? [plain(`  + ${hidden} more ${part.noun[hidden === 1 ? 0 : 1]}`)] : []),
        ...part.tail,
      ]
    })
  let lines = render()
  while (longest !== null && lines.length > longest) {
    if (spaced) spaced = false
    else {
      let most = -1
      let excess = Number.NEGATIVE_INFINITY
      for (const [at, part] of filled.entries()) {
        const kept = shown[at] ?? 0
        if (kept <= part.least || kept - part.fair < excess) continue
        most = at
        excess = kept - part.fair
      }
      if (most < 0) break
      shown[most] = (shown[most] ?? 0) - 1
    }
    lines = render()
  }
  if (longest === null || lines.length <= longest) return lines
  // A sheet so narrow that not even the least of every section fits: the last line says where all of it stands.
  return [...lines.slice(0, longest - 1), ...lines.slice(-1)]
}
