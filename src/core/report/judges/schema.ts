import { z } from 'zod'
import { RATING_SCALES } from '../../stats/agreement/krippendorff.ts'
import { count, estimate, number, refused, type ShapeOf, text, variance } from '../shapes.ts'
import type { Agreement, JudgeReport, Rate } from './report.ts'

const agreement = z.strictObject({
  scale: z.enum(RATING_SCALES),
  outputs: count,
  alpha: number,
  lo: number,
  hi: number,
  reading: z.enum(['reliable', 'tentative', 'unreliable']).nullable(),
  kappa: number,
  ac1: number,
  dominated: z.boolean(),
  icc: number,
  refused,
} satisfies ShapeOf<Agreement>)

const rate = z.strictObject({ est: z.number(), lo: z.number(), hi: z.number() } satisfies ShapeOf<Rate>).nullable()

export const judge = z.strictObject({
  scorer: text,
  raters: z.array(text),
  models: z.array(text),
  agreement: agreement.nullable(),
  human: z
    .strictObject({
      labelled: count,
      disputed: count,
      agreement,
      accuracy: z.strictObject({ sensitivity: rate, specificity: rate, youden: number }).nullable(),
    })
    .nullable(),
  noise: variance.nullable(),
  corrected: z.array(z.strictObject({ variant: text, passRate: estimate, mean: estimate })),
  carries: z.boolean(),
} satisfies ShapeOf<JudgeReport>)
