import type { AgentProfile } from '../record/agent-profile.ts'
import type { CallCost } from '../record/calls.ts'
import type { CallRole, Exchange, WireReading } from '../traffic/exchange.ts'
import { checkAccounting } from './accounting.ts'
import { checkCapture } from './capture.ts'
import { CELL_CHECKS, type CheckCode, type IntegrityIssue, type IntegrityOptions } from './codes.ts'
import { checkFaults } from './faults.ts'
import { checkLeaks } from './leaks.ts'
import { checkModels } from './models.ts'
import { checkProfile } from './profile.ts'

/** One exchange with what was read off it. */
export interface CheckedCall extends Exchange {
  /** Null: no call to a model provider. */
  readonly reading: WireReading | null
  readonly cost: CallCost | null
}

/** A request without an exchange: unfinished, or refused. */
export interface LooseRequest {
  readonly role: CallRole
  readonly method: string
  /** Redacted. */
  readonly url: string
}

/** What happened in one cell, as far as its checks need it. */
export interface CellEvidence {
  readonly capture: 'on' | 'off'
  /** How `run` ended. A subject that failed is not blamed for calls it did not make or did not read to the end. */
  readonly subject: 'output' | 'failed'
  /** Roles whose failure the record tells anyway (`infra_error`, a scorer's error): they swallowed nothing. */
  readonly failing: readonly CallRole[]
  /** In the order of their start. */
  readonly calls: readonly CheckedCall[]
  /** Begun, and unfinished when the cell settled. */
  readonly open: readonly LooseRequest[]
  /** Tried after the cell had settled or its deadline had passed. */
  readonly late: readonly LooseRequest[]
  /** Texts of the replay misses. */
  readonly misses: readonly string[]
  /** Requests of the recording that the cell did not make. */
  readonly unused: readonly LooseRequest[]
  /** Names of the secret rules that hit after redaction. */
  readonly secrets: readonly string[]
  /** Origins the subject may call; null: any. */
  readonly routes: readonly string[] | null
  readonly canary: string | null
  /** Who the subject says made the output; null where it says nothing. */
  readonly profile: AgentProfile | null
  /** The output as canonical JSON; null where there is none. */
  readonly output: string | null
}

/** Reports one finding; `check` gives it its severity, or drops it. */
export type Find = (code: CheckCode, message: string) => void

/**
 * The checks of one cell, in the order of `CELL_CHECKS`; `seeds_identical` needs a whole campaign and is the report's.
 *
 * @param overrides the campaign's `integrity` option
 */
export function checkCell(evidence: CellEvidence, overrides: IntegrityOptions = {}): IntegrityIssue[] {
  const found: IntegrityIssue[] = []
  const find: Find = (code, message) => {
    const severity = overrides[code] ?? CELL_CHECKS[code]
    if (severity !== 'off') found.push({ code, severity, message })
  }
  checkCapture(evidence, find)
  checkFaults(evidence, find)
  checkLeaks(evidence, find)
  checkAccounting(evidence, find)
  checkModels(evidence, find)
  checkProfile(evidence, find)
  if (found.length < 2) return found
  const order = Object.keys(CELL_CHECKS)
  return found.sort((a, b) => order.indexOf(a.code) - order.indexOf(b.code))
}
