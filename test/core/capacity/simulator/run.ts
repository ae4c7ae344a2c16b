import {
  createGovernor,
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
  type GovernorSettings,
} from '../../../../src/core/capacity/governor.ts'
import type { CapacityOptions } from '../../../../src/core/capacity/options.ts'
import { retryDecision } from '../../../../src/core/capacity/retry.ts'
import type { StatusReason } from '../../../../src/core/record/status.ts'
import { type Answer, Provider, type ProviderLimits } from './provider.ts'
import { type Process, type Script, type Step, World } from './world.ts'

export interface SimCall {
  /** The lane on the wire. */
  readonly lane: string
  readonly ms: number
  readonly input?: number
  readonly output?: number
  /** What the request says of its output; default: as much as it will be. */
  readonly outputLimit?: number | null
  readonly microUsd?: number
  readonly bound?: number | null
  /** The answer does not say what it cost. */
  readonly unpriced?: boolean
}

export interface SimJudge {
  readonly lane: string | null
  /** One after the other inside one lease: the question and its re-asks. */
  readonly calls: readonly SimCall[]
}

export interface SimCell {
  readonly id: string
  readonly lane: string | null
  readonly rank: readonly [number, number, number, string]
  /** Rounds one after the other; the calls of a round at once. */
  readonly rounds: readonly (readonly SimCall[])[]
  /** At once. */
  readonly judges?: readonly SimJudge[]
  readonly declaresJudges?: boolean
  readonly spends?: boolean
  readonly worker?: string
}

export type CellEnd =
  | 'scored'
  /** Its output is safe; the judge was refused or failed. */
  | 'judge_error'
  | 'infra_error'
  | 'not_run'
  | 'worker-lost'

export interface Settled {
  readonly end: CellEnd
  readonly reason: StatusReason | null
  readonly at: number
}

export interface SimSetup {
  readonly options: CapacityOptions
  readonly settings?: GovernorSettings
  readonly providers?: { readonly [lane: string]: ProviderLimits }
  /** Lanes that one provider account counts together. */
  readonly accountOf?: (lane: string) => string
  readonly cells: readonly SimCell[]
  readonly campaignBudgets?: { readonly [campaignId: string]: number }
  readonly rerun?: boolean
  /** In [0, 1), for jitter on the wire and in retries. */
  readonly random?: () => number
  /** Called before anything runs and after every decision. */
  readonly watch?: (sim: Simulation) => void
  /** After so many decisions, this happens. */
  readonly at?: ReadonlyMap<number, (sim: Simulation) => void>
}

const DEADLINE_MS = 600_000

/** A campaign whose cells, recorder and providers are scripts, around the real governor and the real retry rules. */
export class Simulation {
  readonly world = new World()
  readonly governor: Governor
  readonly setup: SimSetup
  readonly providers = new Map<string, Provider>()
  readonly settled = new Map<string, Settled>()
  readonly terminal = new Map<string, number>()
  readonly subjects = new Map<string, number>()
  readonly outputs = new Set<string>()
  readonly holding = new Map<string, SimCell>()
  readonly waiting = new Map<string, SimCell>()
  readonly notices: GovernorEffect[] = []
  /** Requests in flight as the recorder sees them, by lane. */
  readonly inFlight = new Map<string, number>()
  readonly order: string[] = []
  /** Bills told to the governor, and calls whose bill it was told nobody knows. */
  billed = 0
  unknownBills = 0
  throttled = 0
  decisions = 0
  crashed = false
  #pending: GovernorEvent[] = []
  #next = 1
  #judging = 0
  peakJudges = 0
  onGrant: (cellId: string, heldMicroUsd: number) => void = () => {}
  readonly #leases = new Map<number, string>()
  readonly #permits = new Map<number, { readonly cellId: string; readonly lane: string; held: boolean }>()
  readonly #bills = new Map<string, number | null>()

  constructor(setup: SimSetup) {
    this.setup = setup
    this.governor = createGovernor(setup.options, () => this.world.now, setup.settings)
    for (const [campaignId, limitMicroUsd] of Object.entries(setup.campaignBudgets ?? {})) {
      this.send({ type: 'campaign-budget', campaignId, budget: { limitMicroUsd } })
    }
  }

  /** Runs to the end, or until the main process dies. */
  run(): this {
    for (const cell of this.setup.cells) this.world.spawn(this.#cell(cell), cell.worker ?? 'w')
    let idle = 0
    for (;;) {
      if (this.crashed) return this
      const wake = this.governor.nextWake()
      if ((this.#pending.length > 0 || (wake !== null && wake <= this.world.now)) && !this.world.isBusy) {
        idle = this.#pending.length > 0 ? 0 : idle + 1
        this.#decide()
      } else if (this.world.alive === 0) return this
      else if (!this.world.step(wake)) idle = Number.POSITIVE_INFINITY
      if (idle > 100) {
        const waiting = JSON.stringify(this.governor.snapshot())
        throw new Error(`nothing can happen any more and ${this.world.alive} processes wait: ${waiting}`)
      }
    }
  }

  send(event: GovernorEvent): void {
    this.#pending.push(event)
  }

  /** A worker dies: its processes end where they stand. */
  lose(worker: string): void {
    this.world.kill(worker)
    const cellIds = this.setup.cells.filter((cell) => cell.worker === worker).map(({ id }) => id)
    const open = cellIds.filter((id) => !this.settled.has(id))
    for (const id of open) {
      this.#settle(id, 'worker-lost', 'worker-lost')
    }
    this.send({ type: 'forget', cellIds: open })
  }

  provider(lane: string): Provider {
    const name = this.setup.accountOf?.(lane) ?? lane
    let provider = this.providers.get(name)
    if (provider === undefined) {
      provider = new Provider(this.setup.providers?.[name] ?? { concurrency: Number.POSITIVE_INFINITY })
      this.providers.set(name, provider)
    }
    return provider
  }

  /** What a cell's record says it cost; null: unknown. */
  costOf(cellId: string): number | null {
    const micro = this.#bills.get(cellId)
    return micro === undefined ? 0 : micro === null ? null : micro / 1_000_000
  }

  get random(): number {
    return this.setup.random?.() ?? 0.5
  }

  #decide(): void {
    const events = this.#pending
    this.#pending = []
    const effects = this.governor.send(events)
    this.decisions++
    for (const event of events) this.#mirror(event)
    for (const effect of effects) this.#mirrorEffect(effect)
    this.setup.watch?.(this)
    for (const effect of effects) {
      if ('cellId' in effect) this.world.say(`lease ${effect.cellId}`, effect)
      else if ('judgeId' in effect) this.world.say(`judge ${effect.judgeId}`, effect)
      else if ('permitId' in effect) this.world.say(`permit ${effect.permitId}`, effect)
      else this.notices.push(effect)
    }
    this.setup.at?.get(this.decisions)?.(this)
  }

  /** What the governor must know after these events, kept by plain lists. */
  #mirror(event: GovernorEvent): void {
    if (event.type === 'ask-lease') {
      const cell = this.setup.cells.find(({ id }) => id === event.request.cellId)
      if (cell !== undefined) this.waiting.set(cell.id, cell)
    } else if (event.type === 'release-lease') {
      this.holding.delete(this.#leases.get(event.leaseId) ?? '')
    } else if (event.type === 'ask-permit') {
      this.#permits.set(event.permitId, { ...event.request, held: false })
    } else if (event.type === 'release-permit') this.#dropPermit(event.permitId)
    else if (event.type === 'forget') {
      for (const cellId of event.cellIds) {
        this.holding.delete(cellId)
        this.waiting.delete(cellId)
        for (const [id, permit] of this.#permits) if (permit.cellId === cellId) this.#dropPermit(id)
      }
    }
  }

  #mirrorEffect(effect: GovernorEffect): void {
    if (effect.type === 'lease-granted') {
      const cell = this.waiting.get(effect.cellId)
      if (cell !== undefined) this.holding.set(cell.id, cell)
      this.#leases.set(effect.leaseId, effect.cellId)
      this.waiting.delete(effect.cellId)
    } else if (effect.type === 'lease-refused') this.waiting.delete(effect.cellId)
    else if (effect.type === 'permit-granted') {
      const permit = this.#permits.get(effect.permitId)
      if (permit === undefined) return
      permit.held = true
      this.inFlight.set(permit.lane, (this.inFlight.get(permit.lane) ?? 0) + 1)
    } else if (effect.type === 'permit-refused') this.#permits.delete(effect.permitId)
  }

  #dropPermit(id: number): void {
    const permit = this.#permits.get(id)
    this.#permits.delete(id)
    if (permit?.held) this.inFlight.set(permit.lane, (this.inFlight.get(permit.lane) ?? 0) - 1)
  }

  *#cell(cell: SimCell): Script {
    for (let rerun = 0; ; rerun++) {
      const { id, lane, rank, judges = [], declaresJudges = true, spends } = cell
      this.send({
        type: 'ask-lease',
        request: {
          cellId: id,
          lane,
          rank,
          rerun,
          ...(declaresJudges ? { judges: judges.map((judge) => judge.lane) } : {}),
          ...(spends === undefined ? {} : { spends }),
        },
      })
      const lease = (yield { kind: 'hear', name: `lease ${id}` }) as GovernorEffect
      if (lease.type !== 'lease-granted') {
        this.#settle(id, 'not_run', lease.type === 'lease-refused' ? lease.reason : null)
        return
      }
      this.onGrant(id, lease.heldMicroUsd ?? 0)
      this.order.push(id)
      this.subjects.set(id, (this.subjects.get(id) ?? 0) + 1)
      const subject = yield* this.#rounds(cell, lease.failover ?? null)
      if (subject === 'ok') {
        this.outputs.add(id)
        const judged = yield* this.#judge(cell)
        this.send({ type: 'release-lease', leaseId: lease.leaseId })
        this.#settle(id, judged === null ? 'scored' : 'judge_error', judged)
        return
      }
      this.send({ type: 'release-lease', leaseId: lease.leaseId })
      if (subject !== 'provider-fault' || !this.setup.rerun || rerun > 0) {
        this.#settle(id, 'infra_error', subject)
        return
      }
    }
  }

  *#rounds(cell: SimCell, failover: string | null): Script<'ok' | StatusReason> {
    for (const round of cell.rounds) {
      const results: ('ok' | StatusReason)[] = []
      const calls = round.map((call) => (failover === null ? call : { ...call, lane: failover }))
      const processes = calls.map((call) => this.#spawnCall(cell, call, 'subject', results))
      yield { kind: 'join', processes }
      const failed = results.find((result) => result !== 'ok')
      if (failed !== undefined) return failed
    }
    return 'ok'
  }

  *#judge(cell: SimCell): Script<StatusReason | null> {
    const refused: StatusReason[] = []
    const judge = function* (this: Simulation, { lane, calls }: SimJudge): Script {
      const judgeId = this.#next++
      this.send({ type: 'ask-judge', judgeId, request: { cellId: cell.id, lane } })
      const answer = (yield { kind: 'hear', name: `judge ${judgeId}` }) as GovernorEffect
      if (answer.type !== 'judge-granted') {
        refused.push(answer.type === 'judge-refused' ? answer.reason : 'missing')
        return
      }
      this.#judging++
      this.peakJudges = Math.max(this.peakJudges, this.#judging)
      for (const call of calls) {
        const results: ('ok' | StatusReason)[] = []
        yield { kind: 'join', processes: [this.#spawnCall(cell, call, 'judge', results)] }
        if (results[0] !== 'ok') {
          refused.push(results[0] ?? 'missing')
          break
        }
      }
      this.#judging--
      this.send({ type: 'release-judge', judgeId })
    }
    const processes = (cell.judges ?? []).map((one) => this.world.spawn(judge.call(this, one), cell.worker ?? 'w'))
    if (processes.length > 0) yield { kind: 'join', processes }
    return refused[0] ?? null
  }

  #spawnCall(cell: SimCell, call: SimCall, role: 'subject' | 'judge', results: ('ok' | StatusReason)[]): Process {
    return this.world.spawn(this.#recorded(cell, call, role, results), cell.worker ?? 'w')
  }

  *#recorded(cell: SimCell, call: SimCall, role: 'subject' | 'judge', results: ('ok' | StatusReason)[]): Script {
    const { lane, input = 10, output = 10, microUsd = 0, ms, bound = null } = call
    let delayMs = 0
    let usedMs = 0
    for (let attempt = 1; ; attempt++) {
      const permitId = this.#next++
      const tokens = { input, output: call.outputLimit === undefined ? output : call.outputLimit }
      const request = { cellId: cell.id, lane, role, tokens, boundMicroUsd: bound, delayMs }
      this.send({ type: 'ask-permit', permitId, request })
      const grant = (yield { kind: 'hear', name: `permit ${permitId}` }) as GovernorEffect
      if (grant.type !== 'permit-granted') {
        results.push(grant.type === 'permit-refused' ? grant.reason : 'missing')
        return
      }
      const answer = yield* this.#onTheWire(call, cell.worker ?? 'w')
      usedMs += answer.kind === 'ok' ? ms : 0
      if (answer.kind === 'ok') {
        const bill = call.unpriced === true ? null : microUsd
        const sum = this.#bills.get(cell.id)
        this.#bills.set(cell.id, bill === null || sum === null ? null : (sum ?? 0) + bill)
        if (bill === null) this.unknownBills++
        else this.billed += bill
        const outcome = { result: { kind: 'answered' }, tokens: { input, output }, microUsd: bill } as const
        this.send({ type: 'release-permit', permitId, outcome })
        results.push('ok')
        return
      }
      const decision = retryDecision({
        outcome:
          answer.kind === 'fault'
            ? answer.fault
            : {
                kind: 'response',
                status: answer.status,
                headers: answer.headers,
                body: null,
                error: { kind: answer.error, message: 'said so' },
              },
        attempt,
        deadlineLeftMs: DEADLINE_MS - usedMs,
        now: this.world.now,
        random: this.random,
      })
      if (decision.result.kind === 'throttled') this.throttled++
      this.send({ type: 'release-permit', permitId, outcome: { result: decision.result, tokens: null, microUsd: 0 } })
      if (!decision.retry) {
        results.push(decision.result.kind === 'closing' ? decision.result.reason : 'provider-fault')
        return
      }
      delayMs = decision.afterMs
    }
  }

  /** The request outlives its worker: the provider has it, and bills it. */
  *#onTheWire({ lane, ms, input = 10, output = 10, microUsd = 0 }: SimCall, owner: string): Script<Answer> {
    const name = `wire ${this.#next++}`
    const travel = Math.floor(this.random * 100)
    const provider = this.provider(lane)
    const wire = function* (this: Simulation): Script {
      yield { kind: 'sleep', ms: Math.min(travel, ms / 2) }
      const answer = provider.arrive(this.world.now, input + output, microUsd)
      const rest = answer.kind === 'ok' ? ms - Math.min(travel, ms / 2) : Math.min(50, ms)
      yield { kind: 'sleep', ms: rest } satisfies Step
      provider.leave()
      this.world.say(name, answer)
    }
    this.world.spawn(wire.call(this), `provider of ${owner}`)
    return (yield { kind: 'hear', name }) as Answer
  }

  #settle(id: string, end: CellEnd, reason: StatusReason | null): void {
    this.terminal.set(id, (this.terminal.get(id) ?? 0) + 1)
    this.settled.set(id, { end, reason, at: this.world.now })
  }
}
