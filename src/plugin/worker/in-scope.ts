import type { CallRole } from '../../core/traffic/exchange.ts'
import type { CellTraffic } from '../replay/traffic.ts'
import type { WorkerBridge } from './bridge.ts'

/** Runs `body` so that what it calls, and what it throws where nobody catches it, is the cell's. */
export function inScope<T>(
  { traffic: recorder, scopes }: WorkerBridge,
  { cellId, traffic }: { readonly cellId: string; readonly traffic: CellTraffic | null },
  role: CallRole,
  body: () => T,
  scorer: string | null = null,
): T {
  if (traffic !== null && recorder !== null) return recorder.run(traffic, role, body, scorer)
  return scopes.run({ cellId, role, scorer, cell: null }, body)
}
