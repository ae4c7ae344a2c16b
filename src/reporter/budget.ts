import type { CampaignReport } from '../core/report/report.ts'
import { dollars, grouped } from './numbers.ts'

/** What was spent of the budgets, in one sentence; null where there are none. */
export function budgetSentence({ budget }: CampaignReport): string | null {
  if (budget === undefined) return null
  const cells = (count: number): string => `${grouped(String(count))} ${count === 1 ? 'cell' : 'cells'}`
  const limits = [
    ...(budget.usd === null ? [] : [`${dollars(budget.usd)} of the campaign`]),
    ...(budget.runUsd === null ? [] : [`${dollars(budget.runUsd)} of the run`]),
  ]
  return [
    `${dollars(budget.spentUsd)} spent${limits.length === 0 ? '' : `; budget ${limits.join(', ')}`}`,
    ...(budget.unknownCells === 0
      ? []
      : [
          `unknown bill of ${cells(budget.unknownCells)}: ${dollars(budget.unknownUsd)} kept (vitest-campaign reconcile)`,
        ]),
    ...(budget.heldUsd === 0 ? [] : [`${dollars(budget.heldUsd)} held for cells that have not ended`]),
    ...(budget.reconciledCells === 0 ? [] : [`bill of ${cells(budget.reconciledCells)} settled by hand`]),
    ...(budget.overUsd === 0 ? [] : [`${dollars(budget.overUsd)} over the budget of the campaign`]),
  ].join('; ')
}
