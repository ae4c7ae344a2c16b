import type { MicroUsd } from '../record/usage.ts'
import type { CallRole } from '../traffic/exchange.ts'
import { Bills } from './bills.ts'
import type { Call, CellMoney, Part } from './cell-money.ts'
import type { CostKey } from './cost-key.ts'
import { CostKeys } from './cost-keys.ts'
import type { Budget, LeaseRequest, PermitRequest } from './events.ts'
import type { Lane, Lanes } from './lanes.ts'
import { needOf, shortText } from './need.ts'
import { Scope } from './scope.ts'

/** What the price list says of a lane. */
export type Priced = (lane: string) => boolean

export type Claim =
  | { readonly kind: 'covered'; readonly holds: readonly { readonly key: CostKey; readonly amount: MicroUsd }[] }
  /** The budget has not enough now. */
  | { readonly kind: 'short'; readonly scope: Scope; readonly keys: readonly CostKey[] }
  /** Somebody else is the first of this lane and role, and its bill is not known yet. */
  | { readonly kind: 'first-cell'; readonly key: CostKey }

/** Why a request may not leave for want of money. */
export interface Shortage {
  readonly scope: Scope
  /** What the request may cost. */
  readonly need: MicroUsd
  /** All that is held now would not do, were it to come back. */
  readonly never: boolean
  readonly detail: string
}

/** A first cell is taken to cost no more than so many times the dearest lane that is known. */
const FIRST_CELL_FACTOR = 10

/**
 * The budgets of a run: a hold before each cell, moved to charged or unknown call by call, and given back when the cell
 * is over. Money is integer micro-USD; a charge that nobody knows stays reserved and is never counted as nothing.
 */
export class Budgets {
  readonly #run: Scope | null
  readonly #priced: Priced
  readonly #campaigns = new Map<string, Scope>()
  readonly #scopes = new Map<string, readonly Scope[]>()
  readonly #keys: CostKeys
  readonly #cells = new Map<string, CellMoney>()
  readonly bills = new Bills()
  /** True when money may have come free, or a first bill arrived, since somebody last asked. */
  changed = false

  /** @throws TypeError when the run's budget is none */
  constructor(run: Budget | null, priced: Priced, lanes: Lanes) {
    this.#run = run === null ? null : new Scope(null, run)
    this.#priced = priced
    this.#keys = new CostKeys(lanes)
  }

  /** @returns what is wrong with it, or null */
  add(campaignId: string, budget: Budget): string | null {
    if (this.#scopes.has(campaignId)) return `campaign ${campaignId} was given a budget after its cells had asked`
    if (this.#campaigns.has(campaignId)) return `campaign ${campaignId} was given a second budget`
    try {
      this.#campaigns.set(campaignId, new Scope(campaignId, budget))
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      // A budget that is broken is not no budget.
      this.#campaigns.set(campaignId, new Scope(campaignId, { limitMicroUsd: 0 }))
      return `campaign ${campaignId}: ${error.message}`
    }
    return null
  }

  /** Of the run: an earlier part of it spent so much. */
  spentBefore(chargedMicroUsd: MicroUsd, unknownMicroUsd: MicroUsd): void {
    if (this.#run === null) return
    this.#run.charged += chargedMicroUsd
    this.#run.unknown += unknownMicroUsd
    this.changed = true
  }

  get all(): readonly Scope[] {
    return [...(this.#run === null ? [] : [this.#run]), ...this.#campaigns.values()]
  }

  /** The budgets that bind a cell; none: money is no matter for it. */
  scopesOf({ rank, spends }: LeaseRequest): readonly Scope[] {
    if (spends === false) return NONE
    if (this.#run === null && this.#campaigns.size === 0) return NONE
    const campaignId = rank[3]
    let scopes = this.#scopes.get(campaignId)
    if (scopes === undefined) {
      const own = this.#campaigns.get(campaignId)
      scopes = [this.#run, own].filter((scope) => scope !== null && scope !== undefined)
      this.#scopes.set(campaignId, scopes)
    }
    return scopes
  }

  /** What a cell needs, and whether the budgets have it. Changes nothing. */
  claim(request: LeaseRequest, lane: Lane | null, scopes: readonly Scope[]): Claim {
    const keys = new Set([this.#keys.ofSubject(request, lane)])
    for (const judge of request.judges ?? []) keys.add(this.#keys.of(judge, 'judge'))
    return this.#claim([...keys], scopes)
  }

  /** Takes what a claim covers. */
  open(cellId: string, request: LeaseRequest, lane: Lane | null, scopes: readonly Scope[], claim: Claim): MicroUsd {
    if (claim.kind !== 'covered') return 0
    const campaignId = request.rank[3]
    const cell: CellMoney = {
      campaignId,
      bill: this.bills.of(cellId, campaignId),
      scopes,
      subject: this.#keys.ofSubject(request, lane),
      parts: new Map(),
      openParts: 0,
      stuckOn: new Set(),
      silent: false,
    }
    this.#cells.set(cellId, cell)
    return this.#hold(cell, claim.holds)
  }

  /** Money for a judge that the cell's hold does not cover; null: it is covered, or needs none. */
  claimJudge(cellId: string, lane: string | null): Claim | null {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return null
    const key = this.#keys.of(lane, 'judge')
    return cell.parts.get(key)?.open ? null : this.#claim([key], cell.scopes)
  }

  openJudge(cellId: string, claim: Claim): void {
    const cell = this.#cells.get(cellId)
    if (cell !== undefined && claim.kind === 'covered') this.#hold(cell, claim.holds)
  }

  /** The cell waits for money, or no longer, and so does not go on: meanwhile what it holds will not come free. */
  stuck(cellId: string, on: 'judge' | 'request', stuck: boolean): void {
    const cell = this.#cells.get(cellId)
    if (cell === undefined || cell.stuckOn.has(on) === stuck) return
    const before = cell.stuckOn.size > 0
    if (stuck) cell.stuckOn.add(on)
    else cell.stuckOn.delete(on)
    if (before === cell.stuckOn.size > 0) return
    if (cell.openParts > 0) for (const scope of cell.scopes) scope.stuckCells += stuck ? 1 : -1
    this.changed = true
  }

  served(cellId: string): void {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return
    cell.silent = true
    for (const part of cell.parts.values()) this.#close(part)
  }

  subjectDone(cellId: string): void {
    const cell = this.#cells.get(cellId)
    const part = cell?.parts.get(cell.subject)
    if (part !== undefined) this.#close(part)
  }

  /** @param lost the cell was cut off: that it made no call says nothing */
  close(cellId: string, lost = false): void {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return
    this.#cells.delete(cellId)
    cell.silent ||= lost
    for (const part of cell.parts.values()) this.#close(part)
  }

  /** What to declare before a request may go to a lane without a price; null where it may. */
  whyUnpriced(cellId: string, lane: Lane, bound: MicroUsd | null): string | null {
    const cell = this.#cells.get(cellId)
    if (cell === undefined || bound !== null) return null
    const { price, usdPerCell } = lane.limit ?? {}
    if (price !== undefined || usdPerCell !== undefined || this.#priced(lane.name)) return null
    const entry = `{ match: ${JSON.stringify(lane.name)}, price: { input, output } }`
    return `no price of ${lane.name} is known and a budget is set, so nothing was sent. Declare capacity.lanes: [${entry}] in USD per million tokens, price: 0 where nothing is paid, or usdPerCell as the most a cell may cost`
  }

  /** True where every cell is bound by the run's budget. */
  get bindsAll(): boolean {
    return this.#run !== null
  }

  /** Whether the budgets have what a request may cost, beside what the cell's requests in flight may; null: they have. */
  shortOf(cellId: string, request: PermitRequest, lane: Lane): Shortage | null {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return null
    const part = this.#partFor(cell, request.role ?? 'subject', request.lane)
    const { amount = 0, reserved = 0 } = part ?? {}
    const need = needOf(request, part ?? null, lane.limit?.usdPerCell)
    const more = reserved + need - amount
    if (need === 0 || more <= 0) return null
    const scope = cell.scopes.find(({ available }) => more > available)
    if (scope === undefined) return null
    const left = scope.limit - scope.charged - scope.unknown
    return { scope, need, never: need > left, detail: shortText(request, need, left, scope) }
  }

  /** True while a cell that holds money here goes on, and so may give some back. */
  goesOn(scope: Scope, isIdle: (cellId: string) => boolean): boolean {
    for (const [cellId, { scopes, openParts, stuckOn }] of this.#cells) {
      if (openParts > 0 && stuckOn.size === 0 && scopes.includes(scope) && !isIdle(cellId)) return true
    }
    return false
  }

  /**
   * A request of the cell was refused for want of money: that it made no call says nothing of what others cost. A judge
   * that no money coming free could pay for is one whose next cell would buy an output in vain.
   */
  refused(cellId: string, request: PermitRequest, { need, never }: Shortage): void {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return
    cell.silent = true
    if (!never || request.role !== 'judge') return
    const key = this.#partFor(cell, 'judge', request.lane)?.key
    if (key !== undefined && key !== cell.subject) key.refuse(need)
  }

  /** A request is about to leave: what it may cost is held. Null where no budget binds the cell. */
  call(cellId: string, request: PermitRequest, lane: Lane): Call | null {
    const cell = this.#cells.get(cellId)
    if (cell === undefined) return null
    const part = this.#partOf(cell, request.role ?? 'subject', request.lane)
    const need = needOf(request, part, lane.limit?.usdPerCell)
    part.calls++
    part.wire ??= lane.name
    part.reserved += need
    const short = part.reserved - part.amount
    if (part.open && short > 0) {
      const raise = Math.max(0, Math.min(short, availableIn(cell.scopes)))
      part.amount += raise
      for (const scope of cell.scopes) scope.held += raise
    }
    return { part, need, bound: request.boundMicroUsd ?? null, unknown: null }
  }

  /** The bill of a call; null: nobody knows it, and its bound (else all that is held for the cell) stays reserved. */
  charge(call: Call, microUsd: MicroUsd | null): void {
    const { part } = call
    this.changed = true
    part.reserved -= call.need
    if (microUsd !== null && Number.isFinite(microUsd) && microUsd >= 0) {
      const charged = Math.ceil(microUsd)
      for (const scope of part.cell.scopes) scope.charged += charged
      this.#spend(part, charged)
      part.key.observeCall(charged)
      return
    }
    const unknown = call.bound ?? part.amount
    call.unknown = unknown
    part.cell.bill.unknown = true
    for (const scope of part.cell.scopes) {
      scope.unknown += unknown
      scope.unknownCalls++
    }
    this.#spend(part, unknown)
  }

  #spend(part: Part, microUsd: MicroUsd): void {
    part.spent += microUsd
    part.cell.bill.microUsd += microUsd
    const covered = Math.min(part.amount, microUsd)
    part.amount -= covered
    for (const scope of part.cell.scopes) {
      scope.held -= covered
      scope.overshoot += microUsd - covered
    }
    // The cell is over, and this is a bill that came late.
    if (!part.open) part.key.observe(part.spent, part.calls)
  }

  /** The part that a call is charged to, or undefined where that is none yet. */
  #partFor(cell: CellMoney, role: CallRole, lane: string): Part | undefined {
    const judge = role === 'judge' ? cell.parts.get(this.#keys.of(lane, 'judge')) : undefined
    // A judge whose declared lane is another name than the wire's is charged to the judges' part, whichever there is.
    return (
      judge ??
      (role === 'judge' ? [...cell.parts.values()].find(({ key }) => key !== cell.subject) : undefined) ??
      cell.parts.get(cell.subject)
    )
  }

  #partOf(cell: CellMoney, role: CallRole, lane: string): Part {
    const part = this.#partFor(cell, role, lane)
    if (part !== undefined) return part
    this.#hold(cell, [{ key: cell.subject, amount: 0 }])
    return cell.parts.get(cell.subject) as Part // just made
  }

  #claim(keys: readonly CostKey[], scopes: readonly Scope[]): Claim {
    let known = 0
    const first: CostKey[] = []
    for (const key of keys) {
      const { estimate } = key
      if (estimate !== null) known += estimate
      else if (key.probing) return { kind: 'first-cell', key }
      else first.push(key)
    }
    for (const scope of scopes) {
      // Nothing may be bought, and what costs nothing today is no exception.
      if (scope.limit === 0) return { kind: 'short', scope, keys }
      // With nobody left to wait for, the first cell takes whatever there is.
      const least = scope.mayFree ? Math.max(1, this.#keys.dearest) : 1
      if (known + first.length * least > scope.available) return { kind: 'short', scope, keys }
    }
    const share = first.length === 0 ? 0 : this.#shareOf(availableIn(scopes) - known)
    const holds = keys.map((key) => ({ key, amount: key.estimate ?? share }))
    return { kind: 'covered', holds }
  }

  /** What a first cell holds: an equal share of what is left for all lanes that have not had theirs, bounded. */
  #shareOf(left: MicroUsd): MicroUsd {
    const share = Math.floor(left / Math.max(1, this.#keys.unknown))
    const { dearest } = this.#keys
    return dearest === 0 ? share : Math.min(share, dearest * FIRST_CELL_FACTOR)
  }

  #hold(cell: CellMoney, holds: readonly { readonly key: CostKey; readonly amount: MicroUsd }[]): MicroUsd {
    let sum = 0
    for (const { key, amount } of holds) {
      const probe = key.estimate === null
      if (probe) key.probing = true
      cell.parts.set(key, { key, cell, amount, reserved: 0, spent: 0, calls: 0, probe, wire: null, open: true })
      sum += amount
      if (cell.openParts++ > 0) continue
      for (const scope of cell.scopes) {
        scope.openCells++
        if (cell.stuckOn.size > 0) scope.stuckCells++
      }
    }
    for (const scope of cell.scopes) scope.held += sum
    return sum
  }

  #close(part: Part): void {
    if (!part.open) return
    part.open = false
    this.changed = true
    const { cell, key } = part
    for (const scope of cell.scopes) scope.held -= part.amount
    part.amount = 0
    if (--cell.openParts === 0) {
      for (const scope of cell.scopes) {
        scope.openCells--
        if (cell.stuckOn.size > 0) scope.stuckCells--
      }
    }
    if (!cell.silent || part.spent > 0) key.observe(part.spent, part.calls)
    // The others of its variant ask for the lane that it was seen to use.
    if (key.isVariant && part.wire !== null && part.calls > 0) {
      this.#keys.of(part.wire, 'subject').observe(part.spent, part.calls)
    }
    if (part.probe) key.probing = false
  }
}

const NONE: readonly Scope[] = []

const availableIn = (scopes: readonly Scope[]): MicroUsd => Math.min(...scopes.map(({ available }) => available))
