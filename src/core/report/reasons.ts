import { TENTATIVE_ALPHA } from '../stats/agreement/krippendorff.ts'
import type { CandidateReport, GuardrailReport } from './candidate-report.ts'
import { FEWEST_UNITS } from './decision.ts'
import { percent, plural, roundedUp, scoreWords } from './numbers.ts'
import type { Reason } from './report.ts'
import type { Trial } from './trial.ts'

interface Context {
  readonly trial: Trial
  readonly comparator: string | null
}

/** The sentence of the rule that fired, for people who decide and did not build the campaign. */
export function reasonOf(code: string, candidate: CandidateReport, context: Context): Reason {
  const text = SENTENCES[code]
  if (text === undefined) throw new Error(`no sentence for the reason ${code}`)
  return { code, text: text(candidate, context) }
}

type Sentence = (candidate: CandidateReport, context: Context) => string

/** `24×3`, or `24×3, 8 families`. */
function size({ trial }: Context): string {
  const { cells, units } = trial
  const design = `${cells.scenarios.length}×${cells.seeds.length}`
  return units.kind === 'family' ? `${design}, ${units.count} units` : design
}

function scenariosBySeeds({ trial }: Context): string {
  return `${plural(trial.cells.scenarios.length, 'scenario')} × ${plural(trial.cells.seeds.length, 'seed')}`
}

/** `71.2 % → 64.8 %, −6.4 pp (95 % CI −10.9 to −1.9)`. */
function movement(candidate: CandidateReport, { trial }: Context): string {
  const words = scoreWords(trial.scale)
  const { difference, adjusted } = candidate
  const arms = trial.arms
  const mean = (id: string | null): string | null => {
    const arm = arms.find(({ variant }) => trial.cells.variants[variant]?.id === id)
    if (arm === undefined || arm.measured < arm.planned) return null
    return words.value(arm.mean.reduce((sum, value) => sum + value, 0) / arm.mean.length)
  }
  const [before, after] = [mean(trial.cells.variants[trial.comparator?.variant ?? -1]?.id ?? null), mean(candidate.id)]
  const parts: string[] = []
  // Means of families weigh otherwise than means of scenarios; only one of them may stand beside the difference.
  if (before !== null && after !== null && trial.units.kind === 'scenario') parts.push(`${before} → ${after}`)
  if (difference?.est != null) {
    const interval =
      difference.lo === null || difference.hi === null
        ? adjusted.p === null
          ? ''
          : ` (in every unit the same; sign-flip p ${adjusted.p.toPrecision(2)})`
        : ` (${percent(difference.level)} CI ${words.bare(difference.lo)} to ${words.bare(difference.hi)})`
    parts.push(`${words.difference(difference.est)}${interval}`)
  } else if (difference?.lo != null && difference.hi !== null) {
    parts.push(`anything from ${words.difference(difference.lo)} to ${words.difference(difference.hi)}`)
  }
  return parts.join(', ')
}

/** What a silent gate would have heard. */
function caught(candidate: CandidateReport, context: Context): string {
  const { drop } = candidate.detectableDrop
  const { trial } = context
  const span = trial.scale[1] - trial.scale[0]
  if (drop !== null) {
    const up = roundedUp(drop, trial.scale)
    if (up > span) return `no drop of any size would have been caught reliably (${size(context)}); add scenarios`
    return `a drop of ${scoreWords(trial.scale).size(up)} or more would be caught 4 times in 5 (${size(context)}); this is not proof of no loss`
  }
  return unseen(candidate, context)
}

function unseen({ unseenLoss }: CandidateReport, context: Context): string {
  if (unseenLoss === null) return `nothing can be said about losses (${size(context)})`
  return `up to ${percent(unseenLoss.upperRate)} of scenarios could still lose more than half of the scale (${unseenLoss.lost} of ${unseenLoss.units} seen, ${size(context)}); this is not proof of no loss`
}

const stop = ({ trial }: Context): string =>
  trial.gate.kind === 'release' ? 'do not release it' : 'do not merge as it is'

const against = ({ comparator }: Context): string => comparator ?? 'nothing'
const primary = ({ trial }: Context): string => trial.gate.primary
const missing = (candidate: CandidateReport, { trial }: Context): number => {
  const arm = trial.candidates.find(({ variant }) => trial.cells.variants[variant]?.id === candidate.id)
  const of = (one: Trial['comparator'] | undefined): number => (one == null ? 0 : one.planned - one.measured)
  return of(arm) + of(trial.comparator)
}

const SENTENCES: { readonly [code: string]: Sentence } = {
  invalid: (_, { trial }) =>
    `no number here is a verdict: ${trial.invalid[0]?.text ?? 'the records do not fit the plan'}`,
  must_pass_broken: (c, context) => {
    const [first] = c.mustPass.broken
    const more = c.mustPass.broken.length - 1
    return (
      `${c.id} fails must-pass scenario ${first?.scenario ?? ''} (seed ${first?.failedSeeds.join(', ') ?? ''})` +
      `${context.comparator === null ? '' : `, which ${context.comparator} passes`}` +
      `${more > 0 ? `, and ${plural(more, 'other')}` : ''}; fix it before ${context.trial.gate.kind === 'release' ? 'a release' : 'merging'}`
    )
  },
  must_pass_held: (c) =>
    `${c.id} passes ${c.mustPass.scenarios === 1 ? 'the must-pass scenario' : `all ${c.mustPass.scenarios} must-pass scenarios`}`,
  no_difference_seen: (c, context) =>
    `${c.id} scored the same as ${against(context)} in all ${plural(context.trial.cells.scenarios.length, 'scenario')}; ${unseen(c, context)}`,
  same_outputs: (c, context) =>
    `${c.id} and ${against(context)} gave the same outputs in every cell: a difference in score (${movement(c, context)}) is the scorer's, not theirs`,
  unchanged: (c, context) =>
    `${c.id} and ${against(context)} sent the same prompts and gave the same outputs: nothing changed (${size(context)})`,
  too_few_scenarios: (c, context) => {
    const { units } = context.trial
    const unit = units.kind === 'family' ? 'scenario families' : 'scenarios'
    return `too few ${unit} to compare ${c.id} with ${against(context)}: ${units.count} of the ${FEWEST_UNITS} that any verdict needs; add ${FEWEST_UNITS - units.count}`
  },
  harm_shown: (c, context) =>
    `${c.id} is worse than ${against(context)} on ${primary(context)}: ${movement(c, context)} over ${scenariosBySeeds(context)}; ${stop(context)}`,
  guardrail_violated: (c, context) => {
    const broken = c.guardrails.filter(({ outcome }) => outcome === 'violated')
    return `${c.id} breaks ${broken.length === 1 ? 'the guardrail' : 'the guardrails'} ${broken.map((rail) => guardrail(rail, context)).join(', ')}; ${stop(context)}`
  },
  guardrail_unproven: (c, context) => {
    const open = c.guardrails.filter(({ require, outcome }) => require === 'shown' && outcome !== 'ok')
    return `${c.id} is good enough on ${primary(context)} (${movement(c, context)}), but not shown to keep ${open.map((rail) => guardrail(rail, context)).join(', ')}`
  },
  judge_unreliable: (c, context) => {
    const { judge } = context.trial
    const alphas = [
      ...(judge?.agreement?.reading === 'unreliable'
        ? [`with ${judge.raters.slice(1).join(', ')} (alpha ${agreed(judge.agreement.alpha)})`]
        : []),
      ...(judge?.human?.agreement.reading === 'unreliable'
        ? [`with people (alpha ${agreed(judge.human.agreement.alpha)})`]
        : []),
    ]
    const moved = c.difference === null ? floor(c, context) : movement(c, context)
    return `${c.id} looks good (${moved}), but the judge ${primary(context)} agrees too little ${alphas.join(' and ')}: below ${TENTATIVE_ALPHA} its score ships nothing; mend the judge`
  },
  bounded_unproven: (c, context) => {
    const { lo } = c.boundedLower ?? { lo: null }
    const bound = lo === null ? 'unknown' : scoreWords(context.trial.scale).difference(lo)
    return `${c.id} looks good (${movement(c, context)}), but the bound that also covers rare large losses is ${bound}; add scenarios`
  },
  skew_unproven: (c, context) =>
    `${c.id} looks good (${movement(c, context)}), but scenarios differ so unevenly that a few more like the worst could change it; add scenarios`,
  exploratory: (c, { trial, ...context }) => {
    const [why] = trial.exploratory
    const moved = movement(c, { trial, ...context })
    if (why === undefined || why.code === 'no_holdout')
      return `${c.id} looks good on scenarios it may have been tuned on: ${moved}; run the holdout before deciding`
    return `${c.id} looks good (${moved}), but nothing is confirmed: ${why.text}`
  },
  superior: (c, context) =>
    `${c.id} is better than ${against(context)} on ${primary(context)}: ${movement(c, context)} over ${scenariosBySeeds(context)}`,
  non_inferior: (c, context) => {
    const margin = scoreWords(context.trial.scale).size(context.trial.gate.margin ?? 0)
    const small = (c.difference?.hi ?? 0) < 0 ? 'a small real loss is shown' : 'a smaller loss is possible'
    return `${c.id} is good enough: it loses less than the margin of ${margin} to ${against(context)} on ${primary(context)}: ${movement(c, context)} over ${scenariosBySeeds(context)}; ${small}`
  },
  few_differences: (c, context) =>
    `too few scenarios differ between ${c.id} and ${against(context)} to call them equal: ${movement(c, context)}; ${caught(c, context)}`,
  no_worthwhile_gain: (c, context) =>
    `${c.id} does not gain the ${scoreWords(context.trial.scale).size(context.trial.gate.target ?? 0)} aimed for: ${movement(c, context)}; ${caught(c, context)}`,
  incomplete: (c, context) =>
    isStale(context)
      ? stale(c, context)
      : `${plural(missing(c, context), 'cell')} of ${c.id}${context.comparator === null ? '' : ` and ${context.comparator}`} ${missing(c, context) === 1 ? 'has' : 'have'} no result, more than ${percent(1 - context.trial.coverageFloor)} of an arm, and they could change the answer; run what is missing again`,
  underpowered: (c, context) =>
    `too few scenarios for the effect asked about (${scoreWords(context.trial.scale).size(context.trial.gate.target ?? context.trial.gate.margin ?? 0)}): ${movement(c, context)}; ${caught(c, context)}`,
  inconclusive: (c, context) =>
    context.comparator === null && context.trial.gate.accepted !== null
      ? `nothing is compared: ${c.id} has no accepted records yet`
      : context.comparator === null
        ? `nothing decides about ${c.id}: no comparator, no threshold, and no must-pass scenario that was measured`
        : `no loss shown for ${c.id} against ${against(context)} on ${primary(context)}: ${movement(c, context)}; ${caught(c, context)}`,
  below_threshold: (c, context) => `${c.id} is below the required ${floor(c, context)}; ${stop(context)}`,
  above_threshold: (c, context) => `${c.id} is above the required ${floor(c, context)}`,
  threshold_undecided: (c, context) =>
    `${c.id} may be above or below the required ${floor(c, context)}; more scenarios would tell`,
}

/** The run is complete, and what it is compared with lacks cells: the accepted records are of another campaign by now. */
function isStale({ trial }: Context): boolean {
  const { comparator, gate, coverageFloor, candidates } = trial
  if (gate.accepted === null || comparator === null) return false
  return candidates.every((arm) => arm.measured >= coverageFloor * arm.planned)
}

function stale(c: CandidateReport, { trial, comparator }: Context): string {
  const lacking = trial.comparator === null ? 0 : trial.comparator.planned - trial.comparator.measured
  return `${plural(lacking, 'cell')} of ${c.id} ${lacking === 1 ? 'has' : 'have'} no partner in ${comparator ?? 'the accepted records'}, more than ${percent(1 - trial.coverageFloor)}, and they could change the answer; accept a run with the changed scenarios`
}

/** `cost 1.2× (limit 1.1×)`; a score by how much it moved. */
function guardrail({ name, endpoint, ratio, diff, estimate }: GuardrailReport, context: Context): string {
  const { est, lo, hi, refused } = estimate
  const scale = context.trial.scales.get(name) ?? null
  const words = scoreWords(endpoint === 'passRate' ? [0, 1] : (scale ?? [0, Number.POSITIVE_INFINITY]))
  const say = (value: number): string => {
    if (ratio !== null) return `${Number(value.toPrecision(3))}×`
    if (endpoint === 'score' || endpoint === 'passRate') return words.difference(value)
    const amount = Number(Math.abs(value).toPrecision(3))
    return `${value < 0 ? '−' : '+'}${endpoint === 'cost' ? `$${amount}` : `${amount} ms`}`
  }
  const worse = endpoint === 'score' || endpoint === 'passRate' ? -1 : 1
  const limit = say(ratio ?? worse * (diff ?? 0))
  const range = lo === null && hi === null ? '' : ` [${lo === null ? '?' : say(lo)}, ${hi === null ? '?' : say(hi)}]`
  const moved =
    est === null && range === '' ? `unknown (${refused ?? 'no data'})` : `${est === null ? '?' : say(est)}${range}`
  return `${name} ${moved}, limit ${limit}`
}

const agreed = (alpha: number | null): string => (alpha === null ? 'unknown' : alpha.toFixed(2))

function floor({ atLeast }: CandidateReport, context: Context): string {
  if (atLeast === null) return 'threshold'
  const words = scoreWords(context.trial.scale)
  const { est, lo, hi, level } = atLeast.mean
  const reached = est === null ? '' : `: ${words.value(est)}`
  const interval = lo === null || hi === null ? '' : ` (${percent(level)} CI ${words.value(lo)} to ${words.value(hi)})`
  return `${words.value(atLeast.threshold)} on ${primary(context)}${reached}${interval}, ${scenariosBySeeds(context)}`
}
