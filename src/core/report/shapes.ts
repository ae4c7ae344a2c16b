import { z } from 'zod'
import { CELL_STATUSES, type CellStatus } from '../record/status.ts'
import { type Estimate, OUTCOMES, type PValue, REFUSALS, type Reason, type Variance } from './report.ts'

/** Every key of T, so that a field added to the report cannot be forgotten here. */
export type ShapeOf<T> = { [K in keyof Required<T>]: z.ZodType<T[K]> }

export const count = z.number().int().nonnegative()
export const number = z.number().nullable()
export const refused = z.enum(REFUSALS).optional()
export const text = z.string()
export const outcome = z.enum(OUTCOMES)
export const interval = z.tuple([z.number(), z.number()])

export const estimate = z
  .strictObject({
    est: number,
    lo: number,
    hi: number,
    level: z.number(),
    se: number,
    df: number,
    n: count,
    unit: z.enum(['scenario', 'family', 'run']),
    method: z.enum([
      't',
      'order-statistic',
      'log-ratio-t',
      'bounds',
      'betting',
      'mover',
      'tango',
      'hodges-lehmann',
      'rogan-gladen',
      'ppi',
    ]),
    descriptive: z.boolean(),
    refused,
  } satisfies ShapeOf<Estimate>)
  .meta({ id: 'Estimate', description: 'A number with its interval; a null stands beside `refused`.' })

export const pValue = z.strictObject({
  p: number,
  pFloor: z.number(),
  exact: z.boolean(),
  resamples: count.nullable(),
  refused,
} satisfies ShapeOf<PValue>)

export const reason = z.strictObject({ code: text, text } satisfies ShapeOf<Reason>).meta({ id: 'Reason' })
export const statusCounts = z.strictObject(
  Object.fromEntries(CELL_STATUSES.map((status) => [status, count])) as Record<CellStatus, typeof count>,
)

export const variance = z.strictObject({
  tau2: number,
  sigma2: number,
  icc: number,
  deff: number,
  nEff: number,
  refused,
} satisfies ShapeOf<Variance>)
