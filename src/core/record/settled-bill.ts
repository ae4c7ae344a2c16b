import type { RunRecord } from './record.ts'
import { type MicroUsd, toUsd } from './usage.ts'

/** A record whose bill nobody knew, with what somebody says it is. */
export function withBill(record: RunRecord, microUsd: MicroUsd): RunRecord {
  const { cost, calls } = record
  const usd = toUsd(microUsd)
  // Which part of it the judges had is known where one of both is.
  const rest = (known: number | null): number | null => (known === null ? null : Math.max(0, usd - known))
  const judgeUsd = cost.judgeUsd ?? (calls.judge === 0 ? 0 : rest(cost.subjectUsd))
  const subjectUsd = cost.subjectUsd ?? rest(judgeUsd)
  return { ...record, cost: { usd, provenance: 'estimated', subjectUsd, judgeUsd } }
}
