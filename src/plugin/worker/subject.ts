import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunContext } from '../../core/campaign/definition.ts'
import type { Payload } from '../../core/campaign/listing.ts'
import { nameOf } from '../../core/campaign/options.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import { segmentOf } from '../../core/campaign/segment.ts'
import { type AgentProfile, agentProfileOf } from '../../core/record/agent-profile.ts'
import { TaskFailure } from '../../core/record/task-failure.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import { writeAtomic } from '../pool/atomic-file.ts'
import type { Deadline } from './deadline.ts'

/** What `run` says about its cell beside the output. */
export interface Notes {
  readonly metrics: Record<string, number>
  readonly tags: Record<string, string>
  profile: AgentProfile | null
}

export interface SubjectOptions {
  readonly cell: PlannedCell
  readonly lane: string | null
  readonly variant: Payload
  readonly scenario: Payload
  readonly deadline: Deadline
  readonly fetch: typeof globalThis.fetch
  readonly runDir: string
  readonly redactor: Redactor
  readonly notes: Notes
}

/** The context that `run` gets. */
export function subjectContext(options: SubjectOptions): RunContext<Payload, Payload> {
  const { cell, notes, redactor } = options
  return {
    variant: options.variant as Payload & { readonly id: string },
    scenario: options.scenario as Payload & { readonly id: string },
    seed: cell.seed,
    get signal() {
      return options.deadline.signal
    },
    cellId: cell.cellId,
    lane: options.lane,
    fetch: options.fetch,
    metric(name, value) {
      checkName('metric', name)
      if (!Number.isFinite(value)) {
        throw new TypeError(`metric ${JSON.stringify(name)} is ${value}; a metric is a finite number`)
      }
      notes.metrics[name] = value
    },
    tag(name, value) {
      checkName('tag', name)
      if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
        throw new TypeError(`tag ${JSON.stringify(name)} is ${nameOf(value)}; a tag is a text`)
      }
      notes.tags[name] = redactor.text(String(value)).text
    },
    async artifact(name, data) {
      const folder = join(options.runDir, 'artifacts', cell.cellId)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, segmentOf(name))
      await writeAtomic(path, typeof data === 'string' ? redactor.text(data).text : data)
      return path
    },
    fail(reason) {
      throw new TaskFailure(reason)
    },
    profile(profile) {
      notes.profile = agentProfileOf(profile, (kept) => redactor.json(kept).value as typeof kept)
    },
  }
}

/** Records are plain objects: this one name would be lost without a word. */
function checkName(what: 'metric' | 'tag', name: string): void {
  if (name === '__proto__') throw new TypeError(`a ${what} cannot be named "__proto__": no record can hold it`)
}
