import type { Reason } from './report.ts'

/** What the campaign of a run that was cut off must say of itself; it makes the campaign invalid. */
export function interruptionOf(cellsWithout: number, cells: number): Reason {
  return {
    code: 'interrupted',
    text: `the run was interrupted: ${cellsWithout} of ${cells} cells have no result`,
  }
}

/** Why a run that executed a part of a campaign gives no verdict on it. */
export function partialText(selected: number, cells: number): string {
  return `${selected} of ${cells} cells selected: no verdict on a part of a campaign`
}
