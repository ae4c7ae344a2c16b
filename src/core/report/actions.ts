import type { Judged } from './candidate.ts'
import { plural } from './numbers.ts'
import type { CampaignReport, Reason, StatusCounts, VariantSummary } from './report.ts'

interface Findings {
  readonly judged: readonly Judged[]
  readonly variants: readonly VariantSummary[]
  readonly failures: CampaignReport['failures']
  readonly counts: StatusCounts
  readonly invalid: readonly Reason[]
  readonly seeds: number
}

const INVALID_ACTIONS: { readonly [code: string]: string } = {
  interrupted: 'run the campaign again: it stopped before every cell had a result',
  duplicate_cell: 'find where two runs were joined: some cells have two records',
  split_leak: 'remove the tuned scenarios from the holdout, then run again',
  judge_differs: 'score both arms with one judge, then run again',
  fingerprint_mismatch: 'run all variants again with the same code and definition',
  content_mismatch: 'run all variants again with the same code and definition',
  scorer_mismatch: 'score all records with the same scorers',
}

/** What to do about a failure, by the class it has most. */
const CLASS_ACTIONS: { readonly [name: string]: string } = {
  timeout: 'raise `timeout`, or find out what the subject waits for',
  format_drift: 'tighten the output format the prompt asks for',
  tool_argument_error: 'look at the arguments the subject gives its tools',
  tool_selection_error: 'look at which tools the subject is offered',
  missing_credentials: 'set the credentials that the provider refuses',
  integration_provider_failure: 'run the failed cells again when the provider answers',
  hallucination: 'read the example: the answer claims what its input does not say',
  instruction_following: 'read the example: the answer ignores what the prompt asks',
  unknown: 'read the example and give the failure a class with `ctx.fail`',
}

/** What to do next, most urgent first; each is one line that somebody can start on. */
export function actionsOf({ judged, variants, failures, counts, invalid, seeds }: Findings): Reason[] {
  const actions: Reason[] = []
  const act = (code: string, text: string): void => {
    if (!actions.some((known) => known.text === text)) actions.push({ code, text })
  }
  for (const { code } of invalid) {
    const text = INVALID_ACTIONS[code]
    if (text !== undefined) act('repair', text)
  }
  for (const { report } of judged) {
    const [broken] = report.mustPass.broken
    if (broken !== undefined) act('must_pass', `make ${report.id} pass ${broken.scenario}`)
    if (report.outcome === 'regress') {
      const [first] = report.worst
      if (first !== undefined && broken === undefined)
        act('look', `look at ${first.scenario}, where ${report.id} lost most`)
    }
    for (const { name, outcome } of report.guardrails) {
      if (outcome === 'violated') act('guardrail', `bring ${name} of ${report.id} back under its limit`)
    }
  }
  const missing = counts.infra_error + counts.judge_error + counts.not_run
  if (missing > 0 && !invalid.some(({ code }) => code === 'interrupted'))
    act('rerun', `run the ${plural(missing, 'missing cell')} again`)
  if (counts.capture_error > 0) act('capture', 'mend what the integrity checks found, then run those cells again')
  for (const { report } of judged) {
    const { outcome, power, difference } = report
    if (report.rule === '6') act('holdout', `confirm ${report.id} on holdout scenarios`)
    if (outcome !== 'inconclusive' && outcome !== 'underpowered') continue
    const { requiredScenarios, requiredUsd, advice } = power
    if (difference !== null && requiredScenarios !== null && advice?.startsWith('buy')) {
      const money = requiredUsd === null ? '' : `, about $${Number(requiredUsd.toPrecision(2))} more`
      act('buy', `${report.id}: ${advice}${money}`)
    }
  }
  const [most] = failures.toSorted((a, b) => b.count - a.count)
  if (most !== undefined) {
    const advice = CLASS_ACTIONS[most.class] ?? 'read the example of the failure'
    act('failures', `${plural(most.count, 'cell')} failed as ${most.class}: ${advice}`)
  }
  const flaky = variants.filter(({ flakiness }) => (flakiness.share ?? 0) > 0.2).map(({ id }) => id)
  if (flaky.length > 0 && invalid.length === 0)
    act('flaky', `${flaky.join(', ')}: seeds disagree in over a fifth of the scenarios; keep several seeds`)
  if (seeds === 1 && judged.some(({ report }) => report.outcome === 'inconclusive'))
    act('seeds', 'run with `seeds: 3` once: with one seed nobody knows how flaky a scenario is')
  return actions
}
