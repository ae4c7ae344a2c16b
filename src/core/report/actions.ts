import type { Judged } from './candidate.ts'
import { SCORER_ERROR } from './failures.ts'
import { plural } from './numbers.ts'
import type { AcceptedReport, CampaignReport, Reason, StatusCounts } from './report.ts'
import type { VariantSummary } from './variant-report.ts'

interface Findings {
  readonly campaignId: string
  readonly accepted: AcceptedReport | null
  readonly judged: readonly Judged[]
  readonly exploratory: readonly Reason[]
  readonly variants: readonly VariantSummary[]
  readonly failures: CampaignReport['failures']
  readonly counts: StatusCounts
  /** How many cells have no result, by reason. */
  readonly reasons: CampaignReport['coverage']['reasons']
  /** Cells whose primary scorer was refused, for such a reason. */
  readonly unjudged: number
  readonly invalid: readonly Reason[]
  readonly integrity: CampaignReport['integrity']
  readonly seeds: number
}

/** The command that makes the newest run the accepted one. */
export function acceptCommand(campaignId: string): string {
  return `npx vitest-campaign accept ${/^[\w.-]+$/.test(campaignId) ? campaignId : `'${campaignId.replaceAll("'", "'\\''")}'`}`
}

const INVALID_ACTIONS: { readonly [code: string]: string } = {
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

/** What keeps cells from a result before anything of theirs fails: their subject and scorers are not at fault. */
const REASON_ACTIONS: { readonly [reason: string]: string } = {
  budget:
    'for want of money or of a price: raise the budget, or let requests bound their answers (`max_tokens`), or declare the price',
  'lane-exhausted': 'by a used-up quota: raise it, or wait for its reset',
  'lane-failed': 'by a closed lane: mend what its provider refuses',
  bail: 'after failed tests: mend these',
}

/** The classes of what was refused before it failed: nobody gave it one. */
const UNMEANT: ReadonlySet<string> = new Set(['unknown', 'integration_provider_failure'])

/** What the integrity checks ask for, where it is more than their message says. */
const CAPTURE_ACTIONS: { readonly [code: string]: string } = {
  replay_miss:
    'record those cells: new ones by a run that names the project, changed ones with `-u`; where a change was not meant, undo it',
  no_provider_calls: "let the subject's requests be seen, or say `capture: 'off'`",
  exchange_incomplete: 'await every call inside `run` and the scorers',
  stream_truncated: 'let the subject treat a stream without its end as an error',
  secret_in_capture: 'keep the secret out of the traffic, or add it to `redact`',
  route_not_allowed: 'add the origin to `routes`, or keep the subject from calling it',
  canary_leak: 'find how the canary reached the subject: its scenario is no test any more',
  late_call: 'await every call, and hand `ctx.signal` to it',
  stub_backend: 'point the subject at the real provider',
}

function failureAdvice({ class: name, mode }: CampaignReport['failures'][number]): string {
  if (name === SCORER_ERROR) return `mend the scorer ${mode ?? ''}, then run those cells again`
  if (name === 'unknown' && mode === 'error') return 'mend `run`, which threw'
  if (name === 'unknown' && mode === 'assertion') return 'read which assertion did not hold'
  if (name === 'unknown' && mode === 'interrupted') return 'run them again'
  return CLASS_ACTIONS[name] ?? 'read the example of the failure'
}

/** What to do next, most urgent first; each is one line that somebody can start on. */
export function actionsOf({
  campaignId,
  accepted,
  judged,
  exploratory,
  variants,
  failures,
  counts,
  reasons,
  unjudged,
  invalid,
  integrity,
  seeds,
}: Findings): Reason[] {
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
  if (
    accepted?.arms.some(({ mismatches }) => mismatches.length > 0) === true &&
    judged.every(({ report }) => report.outcome !== 'regress')
  )
    act('accept', `accept a run with the changed cells: ${acceptCommand(campaignId)}`)
  for (const [reason, text] of Object.entries(REASON_ACTIONS)) {
    const count = reasons[reason] ?? 0
    if (count > 0) act(reason, `${plural(count, 'cell')} without a result ${text}`)
  }
  if (invalid.some(({ code }) => code === 'interrupted')) act('continue', continueText(counts))
  else {
    // What a scorer did not judge is missing until the scorer is mended; `failures` says so.
    const missing = counts.infra_error + counts.not_run
    if (missing > 0) act('rerun', `run the ${plural(missing, 'missing cell')} again`)
  }
  for (const { code, severity } of integrity.issues) {
    if (severity !== 'error') continue
    act('capture', CAPTURE_ACTIONS[code] ?? 'mend what the integrity checks found, then run those cells again')
  }
  for (const { report } of judged) {
    const { outcome, power, difference } = report
    if (report.rule === '6') act('holdout', confirmText(report.id, exploratory))
    if (outcome !== 'inconclusive' && outcome !== 'underpowered') continue
    const { requiredScenarios, requiredUsd, advice } = power
    if (difference !== null && requiredScenarios !== null && advice?.startsWith('buy')) {
      const money = requiredUsd === null ? '' : `, about $${Number(requiredUsd.toPrecision(2))} more`
      act('buy', `${report.id}: ${advice}${money}`)
    }
  }
  const own = failures.filter(({ class: name, mode, count }) =>
    name === SCORER_ERROR
      ? count > unjudged
      : !(UNMEANT.has(name) && mode !== null && Object.hasOwn(REASON_ACTIONS, mode)),
  )
  const [most] = own.toSorted((a, b) => b.count - a.count)
  for (const failure of own) {
    // A scorer that fails hides what it should have measured: never less urgent than the subject's failures.
    if (failure !== most && failure.class !== SCORER_ERROR) continue
    const what =
      failure.class === SCORER_ERROR
        ? `${failure.count === 1 ? 'has' : 'have'} no score of a scorer that failed`
        : `failed as ${failure.class}`
    act('failures', `${plural(failure.count, 'cell')} ${what}: ${failureAdvice(failure)}`)
  }
  const flaky = variants.filter(({ flakiness }) => (flakiness.share ?? 0) > 0.2).map(({ id }) => id)
  if (flaky.length > 0 && invalid.length === 0)
    act('flaky', `${flaky.join(', ')}: seeds disagree in over a fifth of the scenarios; keep several seeds`)
  if (seeds === 1 && judged.some(({ report }) => report.outcome === 'inconclusive'))
    act('seeds', 'run with `seeds: 3` once: with one seed nobody knows how flaky a scenario is')
  return actions
}

/** What would confirm a candidate that looks good, by the first thing in its way. */
const CONFIRM_ACTIONS: { readonly [code: string]: string } = {
  looks_exhausted: 'on holdout scenarios that nobody has looked at: the planned looks at these are used up',
  prereg_deviates: 'with a run of what was registered, or register again before a run on fresh scenarios',
  prereg_unverified: 'with a run whose registration is committed, in a whole clone, before anything is measured',
  accepted_model_differs: 'against freshly accepted records of the same model snapshot',
}

function confirmText(id: string, [why]: readonly Reason[]): string {
  return `confirm ${id} ${CONFIRM_ACTIONS[why?.code ?? ''] ?? 'on holdout scenarios'}`
}

function continueText(counts: StatusCounts): string {
  const done = counts.scored + counts.task_fail
  const rest = Object.values(counts).reduce((sum, count) => sum + count, 0) - done
  return `start the same command again for the ${plural(rest, 'cell')} without a result; without \`-u\`, cells that were recorded replay`
}
