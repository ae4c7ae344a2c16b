import type { Bound, Forecast } from '../core/capacity/forecast.ts'
import { scoreWords } from '../core/report/numbers.ts'
import type { PlannedPower } from '../core/report/planned-power.ts'
import type { CampaignForecast, CellOutlook, ForecastSource, RunForecast } from '../core/report/run-forecast.ts'
import { harmless, inline, typed } from './inline.ts'
import { dollars, duration, grouped, plural } from './numbers.ts'
import { wrap } from './terminal/width.ts'

export interface ForecastOptions {
  /** Columns. */
  readonly width: number
  readonly unicode: boolean
  /** Lines of this project's earlier blocks, which are not said again; those of this one are added. Default: none. */
  readonly told?: Set<string>
}

/** Campaigns that have a line of their own; the others are in the sums. */
const CAMPAIGNS = 12
const ID = 60

const BOUND_WORDS: { readonly [bound in Bound]: string } = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  concurrency: 'concurrency',
  cells: 'capacity.cells',
  cell: 'the calls of one cell',
}

/** What a run will do and take, in some lines: cells first, then calls and money, time, power, and what is not known. */
export function renderForecast(run: RunForecast, { width, unicode, told = new Set() }: ForecastOptions): string {
  const lines: string[] = []
  const say = (title: string, text: string, of = text): void => {
    const key = `${title} ${of}`
    if (told.has(key)) return
    told.add(key)
    const safe = inline(text)
    lines.push(...wrap(`${title}  `, unicode ? safe : typed(safe), width, 2))
  }
  const { project, campaigns, forecast, shard, policy } = run
  const part = shard === null ? '' : `, shard ${shard.index} of ${shard.count}`
  const all = sumOf(campaigns.map(({ cells }) => cells))
  say('PLAN', `${inline(project, ID)}${part}: ${plural(campaigns.length, 'campaign')}, ${outlook(all)}`)
  for (const campaign of campaigns.slice(0, CAMPAIGNS)) {
    if (campaigns.length > 1 || campaign.cells.here !== campaign.cells.planned) {
      say('', `${inline(campaign.campaignId, ID)}: ${outlook(campaign.cells)} (${design(campaign)})`)
    }
  }
  if (campaigns.length > CAMPAIGNS) say('', `+ ${plural(campaigns.length - CAMPAIGNS, 'more campaign')}`)
  if (forecast === null) {
    if (all.here > 0) say('CALLS', `none: nothing is bought (${policy.reason})`)
  } else {
    say('CALLS', calls(forecast, run))
    // What is not known is said below, with its reason.
    if (forecast.minMs !== null) say('TIME', time(forecast))
    for (const { what, cells, why } of forecast.unknown) {
      say('UNKNOWN', `${listed(what)} of ${plural(cells, 'cell')}: ${why}`)
    }
    const from = sources(campaigns)
    if (from !== '') say('FROM', from)
  }
  for (const { campaignId, power } of campaigns.slice(0, CAMPAIGNS)) {
    if (power === null) continue
    const words = powerWords(power)
    say('POWER', `${campaigns.length > 1 ? `${inline(campaignId, ID)}: ` : ''}${words}`, `${campaignId} ${words}`)
  }
  for (const problem of run.problems) say('REFUSED', problem)
  return lines.map((line) => harmless(line.trimEnd())).join('\n')
}

function outlook({ planned, here, ...kinds }: CellOutlook): string {
  const parts = [
    [kinds.live, 'live'],
    [kinds.rescored, 'to be scored only'],
    [kinds.replayed, 'replayed'],
    [kinds.carried, 'carried over'],
    [kinds.held, 'held back (EVALS_RECONCILE)'],
  ] as const
  const some = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${grouped(String(count))} ${word}`]))
  const cells = here === planned ? plural(here, 'cell') : `${grouped(String(here))} of ${plural(planned, 'cell')}`
  return some.length === 0 ? cells : `${cells}: ${some.join(', ')}`
}

const design = ({ variants, scenarios, seeds }: CampaignForecast): string =>
  `${plural(variants, 'variant')} × ${plural(scenarios, 'scenario')} × ${plural(seeds, 'seed')}`

function sumOf(outlooks: readonly CellOutlook[]): CellOutlook {
  const sum = { planned: 0, here: 0, carried: 0, rescored: 0, held: 0, replayed: 0, live: 0 }
  for (const one of outlooks) for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += one[key]
  return sum
}

function calls({ calls: count, microUsd }: Forecast, { budgetUsd, campaigns }: RunForecast): string {
  const usd = (micro: number): string => dollars(micro / 1_000_000)
  const many = count === null ? 'unknown' : `about ${grouped(String(count))}`
  const cost =
    microUsd === null
      ? 'cost unknown'
      : microUsd.high === 0
        ? 'nothing is paid'
        : `about ${usd(microUsd.mean)} (${usd(microUsd.low)} to ${usd(microUsd.high)}, as the cheapest and the dearest cell seen)`
  const budgets = [
    ...(budgetUsd === null ? [] : [`${dollars(budgetUsd)} of the run`]),
    ...campaigns.flatMap((one) =>
      one.budgetUsd === null ? [] : [`${dollars(one.budgetUsd)} of ${inline(one.campaignId, ID)}`],
    ),
  ]
  const limits = [budgetUsd, ...(campaigns.length === 1 ? campaigns.map((one) => one.budgetUsd) : [])]
  const least = Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY))
  const enough =
    least === 0
      ? ': nothing is bought, live cells will be not_run'
      : microUsd === null || microUsd.mean <= least * 1_000_000
        ? ''
        : ': not enough, some cells will be not_run'
  const may = microUsd !== null && enough === '' && microUsd.high > least * 1_000_000
  const dear = may ? ': not enough if all are as dear as the dearest one seen' : ''
  return `${many}; ${cost}; ${budgets.length === 0 ? 'no budget' : `budget ${budgets.join(', ')}${enough}${dear}`}`
}

function time({ minMs, boundBy, unknown }: Forecast): string {
  if (minMs === null || boundBy === null) return 'unknown'
  const { bound, lane, account } = boundBy
  const where = lane === null ? '' : ` of ${account === null ? inline(lane, ID) : `account ${inline(account, ID)}`}`
  const part = unknown.some(({ what }) => what.includes('time')) ? ', of the cells whose time is known' : ''
  return `at least ${duration(minMs)}${part}, bound by ${BOUND_WORDS[bound]}${where}; waits for a throttled provider come on top`
}

function powerWords(power: PlannedPower): string {
  if (power.drop === null) return `no drop can be shown: ${power.why}`
  const { drop, scale, units, unit, spread, spreadFrom } = power
  const words = scoreWords(scale)
  const assumed =
    spreadFrom === 'earlier-run'
      ? `${words.size(spread)}, as in an earlier run`
      : `${words.size(spread)}, which is assumed: no earlier run says`
  const many = unit === 'family' ? plural(units, 'family', 'families') : plural(units, 'scenario')
  return `a drop of ${words.size(drop)} or more would be caught 4 times in 5, if differences spread by ${assumed} (${many})`
}

function sources(campaigns: readonly CampaignForecast[]): string {
  const seen = new Map<string, ForecastSource>()
  for (const source of campaigns.flatMap((campaign) => campaign.sources)) {
    const key = source.runId ?? ''
    const known = seen.get(key)
    seen.set(key, {
      ...source,
      cells: source.cells + (known?.cells ?? 0),
      changed: source.changed || (known?.changed ?? false),
    })
  }
  return Array.from(seen.values(), ({ kind, cells, runId, changed }) => {
    const of = kind === 'recordings' ? 'recordings' : `run ${runId}${changed ? ', before a campaign was changed' : ''}`
    return `${plural(cells, 'cell')} of ${of}`
  }).join('; ')
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
