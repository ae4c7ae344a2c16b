import type { RatingScale } from '../../stats/agreement/krippendorff.ts'
import type { Estimate, RefusalCode, Variance } from '../report.ts'

/** Agreement of several ratings of the same outputs. */
export interface Agreement {
  readonly scale: RatingScale
  /** Outputs with at least two ratings. */
  readonly outputs: number
  /** Krippendorff's α with its 95 % interval over scenarios; no interval below 30 of them. */
  readonly alpha: number | null
  readonly lo: number | null
  readonly hi: number | null
  /** From .8 on reliable, from .667 on tentative; below, the judge carries no ship verdict. */
  readonly reading: 'reliable' | 'tentative' | 'unreliable' | null
  /** Of exactly two raters: Cohen's κ (quadratic for ordered steps) and Gwet's AC1. */
  readonly kappa: number | null
  readonly ac1: number | null
  /** One category holds over 90 % of the ratings: κ alone would mislead. */
  readonly dominated: boolean
  /** ICC(2,1), of measured scores that every rater gave. */
  readonly icc: number | null
  readonly refused?: RefusalCode
}

/** A judge that others rate beside: further scorers (`rates`), people, or both. */
export interface JudgeReport {
  readonly scorer: string
  /** The judge, then the scorers that rate what it rates. */
  readonly raters: readonly string[]
  /** Models that judged, where known. */
  readonly models: readonly string[]
  /** Among the raters; null with one. */
  readonly agreement: Agreement | null
  /** Of the judge with the people who labelled outputs. */
  readonly human: {
    readonly labelled: number
    /** Outputs on which people disagree about passing; they calibrate nothing. */
    readonly disputed: number
    readonly agreement: Agreement
    /** Against what people passed and failed, with Wilson intervals; null where nobody said. */
    readonly accuracy: {
      readonly sensitivity: Rate | null
      readonly specificity: Rate | null
      readonly youden: number | null
    } | null
  } | null
  /** Between outputs (tau2) and between the ratings of one (sigma2): judge noise. */
  readonly noise: Variance | null
  /** Rates corrected for the judge's errors, with the labels of the same variant. Beside every verdict. */
  readonly corrected: readonly { readonly variant: string; readonly passRate: Estimate; readonly mean: Estimate }[]
  /** False below the floor: its score ships nothing. */
  readonly carries: boolean
}

export interface Rate {
  readonly est: number
  readonly lo: number
  readonly hi: number
}
