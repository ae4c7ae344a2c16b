import type { Redactor } from '../../core/traffic/redact.ts'
import type { WorkerSettings } from '../control.ts'
import type { Clock } from './clock.ts'
import type { Upstream } from './upstream.ts'

/** What every call needs on its way, made once per thread. */
export interface RecorderParts {
  readonly settings: WorkerSettings
  readonly redactor: Redactor
  readonly upstream: Upstream
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
}
