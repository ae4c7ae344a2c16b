import type { Agreement, JudgeReport, Rate } from '../core/report/judges/report.ts'
import type { Estimate } from '../core/report/report.ts'
import { inline } from './inline.ts'
import { interval, percent, plural, type Scale, unknown } from './numbers.ts'

/** How far a judge agrees with the other judges, and with people. */
export function judgeSentences({ scorer, raters, agreement, human, carries }: JudgeReport): string[] {
  const name = inline(scorer, 40)
  const said: string[] = []
  if (agreement !== null) {
    said.push(
      `${name}: ${agreed(agreement)} on ${plural(agreement.outputs, 'output')} with ${raters
        .slice(1)
        .map((rater) => inline(rater, 40))
        .join(', ')}`,
    )
  }
  if (human !== null) {
    const disputed = human.disputed === 0 ? '' : `, ${human.disputed} disputed`
    const rates = human.accuracy === null ? '' : `; ${accuracy(human.accuracy)}`
    said.push(`${name}: ${agreed(human.agreement)} on ${plural(human.labelled, 'labelled output')}${disputed}${rates}`)
  }
  if (!carries) said.push(`${name} agrees too little to carry a ship verdict`)
  return said
}

/** What the means and rates would be without the judge's errors, variant by variant. */
export function correctedSentences({ corrected }: JudgeReport, scale: Scale): string[] {
  return corrected.map(({ variant, passRate, mean }) => {
    const one = (name: string, estimate: Estimate, write: (value: number) => string): string =>
      `${name} ${estimate.est === null ? unknown(estimate.refused) : `${write(estimate.est)} ${interval(estimate, write) ?? ''}`.trim()}`
    const parts = [
      one('mean', mean, scale.value),
      ...(passRate.refused === 'not_applicable' ? [] : [one('pass rate', passRate, percent)]),
    ]
    return `${inline(variant, 40)} corrected by labels: ${parts.join(', ')}`
  })
}

function agreed({ alpha, lo, hi, reading, ac1, kappa, dominated, refused }: Agreement): string {
  if (alpha === null) return `alpha ${unknown(refused)}`
  const range = lo === null || hi === null ? '' : ` [${lo.toFixed(2)}, ${hi.toFixed(2)}]`
  // Where nearly all ratings are of one kind, alpha and kappa collapse whatever the agreement.
  const beside =
    dominated && ac1 !== null ? `, kappa ${kappa === null ? 'unknown' : kappa.toFixed(2)}, AC1 ${ac1.toFixed(2)}` : ''
  return `alpha ${alpha.toFixed(2)}${range}${reading === null ? '' : ` ${reading}`}${beside}`
}

function accuracy({ sensitivity, specificity }: NonNullable<NonNullable<JudgeReport['human']>['accuracy']>): string {
  const rate = (name: string, found: Rate | null): string =>
    `${name} ${found === null ? 'unknown' : `${percent(found.est)} [${percent(found.lo)}, ${percent(found.hi)}]`}`
  return `${rate('passes seen', sensitivity)}, ${rate('failures seen', specificity)}`
}
