import type { PlannedGate } from '../campaign/plan.ts'
import type { Judged } from './candidate.ts'
import { GRAVITY } from './exit.ts'
import { percent, plural } from './numbers.ts'
import { type CampaignReport, OUTCOMES, type Outcome, type Reason } from './report.ts'
import type { VariantSummary } from './variant-report.ts'

type Verdict = CampaignReport['verdict']

/** Worst first. Red always comes before green, whatever the outcome is called. */
const SEVERITY: readonly Outcome[] = ['invalid', 'regress', 'inconclusive', 'underpowered', 'hold', 'ship']

function rank({ exitCode, report }: Judged): number {
  return GRAVITY.indexOf(exitCode) * OUTCOMES.length + SEVERITY.indexOf(report.outcome)
}

/**
 * The campaign's verdict: that of its worst candidate, so that a release gate with several is green when all of them
 * ship. PASS needs every candidate to be shipped, held or above its threshold; green without that is NO VERDICT.
 */
export function gateVerdict(
  judged: readonly Judged[],
  gate: PlannedGate,
  invalid: readonly Reason[],
  interrupted: string | null,
): Verdict {
  const ordered = judged.toSorted((a, b) => rank(a) - rank(b))
  const [worst, ...others] = ordered
  if (worst === undefined) {
    const red = invalid.length > 0
    return {
      word: red ? 'FAIL' : 'NO VERDICT',
      gate: gate.kind,
      outcome: red ? 'invalid' : 'inconclusive',
      rule: red ? '1' : '11',
      red,
      exitCode: red ? 2 : 0,
      headline:
        interrupted ??
        (red
          ? `no number here is a verdict: ${invalid[0]?.text ?? ''}`
          : 'the gate has no candidate: nothing is compared with the comparator'),
      reasons: [...invalid],
    }
  }
  const { report, exitCode } = worst
  const said = report.reasons[0]?.text ?? ''
  // What is open is no failure of the candidate, but a release waits for it.
  const headline = gate.kind === 'release' && exitCode === 3 ? `not shown fit for release: ${said}` : said
  const rest = others.map((other) => `${other.report.id} ${other.report.outcome}`).join(', ')
  const invalidated = report.outcome === 'invalid'
  return {
    word: exitCode !== 0 ? 'FAIL' : judged.every(({ positive }) => positive) ? 'PASS' : 'NO VERDICT',
    gate: gate.kind,
    outcome: report.outcome,
    rule: report.rule,
    red: exitCode !== 0,
    exitCode,
    // One campaign-wide fault needs no list of candidates that all have it.
    headline:
      invalidated && interrupted !== null
        ? interrupted
        : others.length === 0 || invalidated
          ? headline
          : `${headline} (others: ${rest})`,
    reasons: invalidated ? [...invalid] : ordered.flatMap((one) => one.report.reasons.slice(0, 1)),
  }
}

/** Without a gate only one thing is red: too few cells measured. */
export function coverageVerdict(
  variants: readonly VariantSummary[],
  floor: number,
  primary: string,
  invalid: readonly Reason[],
  words: (score: number) => string,
  interrupted: string | null,
): Verdict {
  const short = variants.filter(({ coverage }) => coverage < floor)
  const measured = variants.reduce((sum, { counts }) => sum + counts.scored + counts.task_fail, 0)
  const planned = variants.reduce((sum, variant) => sum + variant.planned, 0)
  const coverage = `${measured} of ${plural(planned, 'cell')} measured`
  const red = short.length > 0
  const means = variants.map(({ id, mean }) => `${id} ${mean.est === null ? 'unknown' : words(mean.est)}`)
  const listed = means.length > 4 ? `${means.slice(0, 4).join(', ')} and ${means.length - 4} more` : means.join(', ')
  const reasons = short.map(({ id, coverage: share }) => ({
    code: 'incomplete',
    text: `${id}: ${percent(share)} of the planned cells measured, ${percent(floor)} required`,
  }))
  return {
    word: red ? 'FAIL' : 'NO VERDICT',
    gate: 'none',
    outcome: null,
    rule: red ? 'coverage' : null,
    red,
    exitCode: red ? 3 : 0,
    headline: red
      ? (interrupted ??
        `${coverage}, ${percent(floor)} of each variant required: ${short.map(({ id }) => id).join(', ')} ${short.length === 1 ? 'falls' : 'fall'} short; run the missing cells again`)
      : `no gate declared; ${coverage}, ${primary}: ${listed}`,
    reasons: [...reasons, ...invalid],
  }
}
