import { nearest } from '../../core/campaign/options.ts'
import type { TrafficPolicy } from '../control.ts'
import { MODES, type Mode, plainError } from '../options.ts'

export interface PolicyFacts {
  /** `mode` of the options. */
  readonly mode: Mode
  /** Value of EVALS_MODE, if set. */
  readonly envMode: string | undefined
  /** Vitest's snapshot state: `none` in CI, `new` locally, `all` with -u. */
  readonly snapshots: 'none' | 'new' | 'all'
  /** The command line names the project (`--project`) or a file filter. */
  readonly named: boolean
  readonly ui: boolean
}

export interface Policy {
  readonly traffic: TrafficPolicy
  readonly reason: string
}

/**
 * How provider calls are answered (DESIGN 5.4). Nothing is bought unless the command names the project or an eval
 * file, or sets EVALS_MODE: a bare `vitest`, a `-u` meant for snapshots, or the UI replays.
 *
 * @throws TypeError when EVALS_MODE is none of the modes
 */
export function trafficPolicy(facts: PolicyFacts): Policy {
  const { envMode } = facts
  if (envMode !== undefined && envMode !== '') {
    if (!isMode(envMode)) {
      const near = nearest(envMode, MODES)
      throw plainError(
        `EVALS_MODE=${JSON.stringify(envMode)} is no mode; ${near === null ? '' : `did you mean ${near}? `}use one of ${MODES.join(', ')}`,
      )
    }
    if (envMode !== 'auto') return { traffic: envMode, reason: `EVALS_MODE=${envMode}` }
    return auto(facts.snapshots)
  }
  const wanted: Policy =
    facts.mode === 'auto' ? auto(facts.snapshots) : { traffic: facts.mode, reason: `mode: '${facts.mode}'` }
  if (wanted.traffic === 'replay') return wanted
  if (facts.ui) return { traffic: 'replay', reason: 'the UI never buys; set EVALS_MODE to allow live calls' }
  if (!facts.named) {
    return {
      traffic: 'replay',
      reason: 'the command names neither the project nor an eval file; add --project <name> or set EVALS_MODE',
    }
  }
  return wanted
}

/** Whether `-u` makes a run record: any other mode than `auto`, in the options or in EVALS_MODE, leaves it without effect. */
export function followsSnapshots(mode: Mode, envMode: string | undefined): boolean {
  return (envMode === undefined || envMode === '' ? mode : envMode) === 'auto'
}

function isMode(text: string): text is Mode {
  return (MODES as readonly string[]).includes(text)
}

function auto(snapshots: PolicyFacts['snapshots']): Policy {
  switch (snapshots) {
    case 'none':
      return { traffic: 'replay', reason: 'CI: recordings only' }
    case 'new':
      return { traffic: 'new', reason: 'recorded cells replay, new cells go live and are recorded' }
    case 'all':
      return { traffic: 'record', reason: '-u: the selected cells go live and are recorded again' }
  }
}
