import { FAILURE_CLASSES } from '../record/failure.ts'
import type { RunRecord } from '../record/record.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import type { CampaignReport, FailureCluster } from './report.ts'

const CELLS_LISTED = 20
const MESSAGES_LISTED = 5

/** The class under which failed scorers stand, each by its name: no failure of the subject, so in no list of classes. */
export const SCORER_ERROR = 'scorer_error'

/** After these the subject fails in the words of some SDK: an echo, whose cause the integrity checks name. */
const ECHOED: ReadonlySet<string> = new Set(['replay_miss', 'route_not_allowed'])

interface Occurrence {
  readonly class: string
  readonly mode: string | null
  readonly message: string | null
}

/** What went wrong in a cell, each cause once. */
function occurrencesIn(record: RunRecord, primary: string): Occurrence[] {
  const { failure, scores, status } = record
  if (record.integrity.issues.some(({ code, severity }) => severity === 'error' && ECHOED.has(code))) return []
  const found: Occurrence[] = []
  if (failure !== null && failure.class !== 'success') {
    found.push({ class: failure.class, mode: failure.mode ?? null, message: failure.message ?? null })
  }
  for (const [name, { error }] of Object.entries(scores)) {
    if (error !== undefined) found.push({ class: SCORER_ERROR, mode: name, message: error })
  }
  if (status === 'judge_error' && scores[primary]?.error === undefined) {
    found.push({
      class: SCORER_ERROR,
      mode: primary,
      message: 'gave no score: the primary scorer may not have "no opinion"',
    })
  }
  return found
}

/** A cluster in the making. */
class Cluster {
  #count = 0
  readonly #messages = new Map<string, number>()
  readonly #cells: string[] = []

  add(message: string | null, cellId: string): void {
    this.#count++
    if (message !== null) this.#messages.set(message, (this.#messages.get(message) ?? 0) + 1)
    if (this.#cells.length < CELLS_LISTED) this.#cells.push(cellId)
  }

  /** The most frequent messages first. */
  get told(): FailureCluster {
    const messages = [...this.#messages]
      .map(([text, count]) => ({ text, count }))
      .sort((a, b) => b.count - a.count || byCodeUnit(a.text, b.text))
    return {
      count: this.#count,
      example: messages[0]?.text ?? null,
      messages: messages.slice(0, MESSAGES_LISTED),
      distinct: messages.length,
      cells: this.#cells,
    }
  }
}

/** Failures by class and mode in the order of the list of classes, failed scorers last; and the same by variant. */
export function failuresOf(cells: Cells, primary: string): CampaignReport['failures'] {
  const groups = new Map<string, Occurrence & { all: Cluster; variants: Map<string, Cluster> }>()
  for (const record of cells.records) {
    if (record === undefined) continue
    for (const occurrence of occurrencesIn(record, primary)) {
      const order = (FAILURE_CLASSES as readonly string[]).indexOf(occurrence.class)
      const key = `${String(order < 0 ? FAILURE_CLASSES.length : order).padStart(3, '0')} ${occurrence.mode ?? ''}`
      const group = groups.get(key) ?? { ...occurrence, all: new Cluster(), variants: new Map<string, Cluster>() }
      groups.set(key, group)
      const ofVariant = group.variants.get(record.variantId) ?? new Cluster()
      group.variants.set(record.variantId, ofVariant)
      for (const cluster of [group.all, ofVariant]) cluster.add(occurrence.message, record.cellId)
    }
  }
  // Records stand in the order of the plan's variants, and so do their clusters.
  return [...groups.keys()].sort(byCodeUnit).flatMap((key) => {
    const group = groups.get(key)
    if (group === undefined) return []
    const variants = Array.from(group.variants, ([variant, cluster]) => ({ variant, ...cluster.told }))
    return [{ class: group.class, mode: group.mode, ...group.all.told, variants }]
  })
}
