import { join } from 'node:path'
import type { LooseRequest } from '../../core/integrity/check.ts'
import { placeOf, readCapture } from '../../core/traffic/capture.ts'
import type { Exchange } from '../../core/traffic/exchange.ts'
import {
  decodeRecording,
  encodeExchange,
  encodeRecording,
  type Recording,
  withoutDigests,
} from '../../core/traffic/format.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import { sameTraffic } from '../../core/traffic/same.ts'
import { encodeSent, type SentMark } from '../../core/traffic/sent.ts'
import { bodyShare } from '../../core/traffic/shared.ts'
import { createTape, type Tape } from '../../core/traffic/tape.ts'
import { type Clock, settlesWithin } from './clock.ts'
import { readRecording, readShared, removeRecording, writeRecording } from './disk.ts'
import type { AnswerMock } from './mock.ts'
import { type Origins, originsOf } from './origins.ts'
import { RECORDINGS, type RecordingPlace, recordingPlace } from './path.ts'
import { Permits } from './permit.ts'
import { type RawCapture, rawCapture, readAttempt } from './raw.ts'
import type {
  CellTraffic,
  CellTrafficOptions,
  CellTrafficResult,
  LostCall,
  ReplayMiss,
  TrafficPort,
} from './traffic.ts'

/** How long a call waits for the body of an earlier one to the same address, so that ordinals follow the calls. */
const ORDER_WAIT_MS = 1000

/** A call's place among the calls of its cell. */
export interface Turn {
  /** Resolves when every earlier call to the same address has its ordinal. */
  readonly ready: Promise<unknown> | null
  /** The call has its ordinal, or will never ask for one. */
  done(): void
}

export interface CellParts {
  readonly options: CellTrafficOptions
  readonly mode: 'replayed' | 'live'
  /** True when a clean settlement is to be written down. */
  readonly records: boolean
  /** True when the cell may have a recording, which this one replaces. */
  readonly replaces: boolean
  readonly recording: Recording | null
  readonly mock: AnswerMock | null
  readonly runDir: string
  readonly port: TrafficPort
  readonly redactor: Redactor
  readonly clock: Clock
  /** JSON pointers that are not matched. */
  readonly volatile: readonly string[]
  readonly fetch: (cell: Cell) => typeof globalThis.fetch
}

/** The traffic of one cell: what it may do, what it did, and what of that is kept. */
export class Cell implements CellTraffic {
  readonly cellId: string
  readonly mode: 'replayed' | 'live'
  readonly records: boolean
  readonly fetch: typeof globalThis.fetch
  readonly options: CellTrafficOptions
  readonly tape: Tape | null
  readonly mock: AnswerMock | null
  readonly routes: Origins | null
  readonly permits: Permits
  /** Aborted when the cell is closed and its grace is over; made by the first live call. */
  #abort: AbortController | null = null
  readonly #parts: CellParts
  /** Opened by the first live exchange. */
  #raw: RawCapture | null = null
  readonly #exchanges: (Exchange | null)[] = []
  /** Live exchanges in the capture. */
  #live = 0
  /** Attempts the client did not see. */
  readonly #retried = new Set<Exchange>()
  /** Keys of requests that were made again as often as we do. */
  readonly #spent = new Set<string>()
  /** The first of the subject and of each scorer. */
  readonly #lost: LostCall[] = []
  readonly #misses: ReplayMiss[] = []
  readonly #missingKeys = new Set<string>()
  readonly #ordinals = new Map<string, number>()
  readonly #turns = new Map<string, Set<Promise<void>>>()
  readonly #open = new Map<LooseRequest, Promise<void>>()
  #admitted: Promise<void> | null = null
  #closed = false
  #cutOff = false
  readonly #late: LooseRequest[] = []

  constructor(parts: CellParts) {
    this.#parts = parts
    this.options = parts.options
    this.cellId = parts.options.cellId
    this.mode = parts.mode
    this.records = parts.records
    this.tape =
      parts.recording === null
        ? null
        : createTape(parts.recording.exchanges, parts.volatile.length > 0 ? parts : undefined)
    this.mock = parts.mock
    this.permits = new Permits(parts.port, parts.options, parts.clock)
    this.routes = parts.options.routes === null ? null : originsOf(parts.options.routes, 'routes')
    this.fetch = parts.fetch(this)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Aborted when this cell's calls in flight must end. */
  get endSignal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  /** Takes a call's place. Call it synchronously when the call is made. */
  enter(address: string): Turn {
    const { clock } = this.#parts
    const ahead = this.#turns.get(address) ?? new Set()
    this.#turns.set(address, ahead)
    const ready = ahead.size === 0 ? null : settlesWithin(clock, Promise.all(ahead), ORDER_WAIT_MS)
    let resolve = () => {}
    const place = new Promise<void>((resolved) => {
      resolve = resolved
    })
    ahead.add(place)
    return {
      ready,
      done: () => {
        resolve()
        ahead.delete(place)
        if (ahead.size === 0 && this.#turns.get(address) === ahead) this.#turns.delete(address)
      },
    }
  }

  nextOrdinal(key: string): number {
    const ordinal = this.#ordinals.get(key) ?? 0
    this.#ordinals.set(key, ordinal + 1)
    return ordinal
  }

  /** A place for an exchange in the order of the calls; filled when the exchange is over. */
  reserve(): (exchange: Exchange) => void {
    const at = this.#exchanges.push(null) - 1
    return (exchange) => {
      this.#exchanges[at] = exchange
      // It is in the capture, and no later attempt came.
      if (this.#retried.delete(exchange) || exchange.source !== 'live') return
      this.#capture(exchange)
    }
  }

  /** An attempt that is made again: the capture has it, the recording does not. */
  retry(exchange: Exchange): void {
    this.#retried.add(exchange)
    this.#live++
    // Before the next attempt leaves: of a run that dies in that one, this one's bill is known.
    this.#capturing().appendNow(`${encodeExchange(exchange)}\n`)
  }

  #capture(exchange: Exchange): void {
    this.#capturing().append(`${encodeExchange(exchange)}\n`)
    this.#live++
  }

  #capturing(): RawCapture {
    const { runDir, options } = this.#parts
    this.#raw ??= rawCapture(runDir, options.cellId, options.attempt)
    return this.#raw
  }

  /** Says in the capture that a request is about to leave. @throws Error when that cannot be written */
  mark(mark: SentMark): void {
    this.#capturing().mark(encodeSent(mark))
  }

  /** A request to no provider is about to leave. */
  leaves(): void {
    this.#capturing().open()
  }

  async flush(): Promise<number> {
    await this.#raw?.flush()
    return this.#live
  }

  adopt(): void {
    const { runDir, options } = this.#parts
    const captured = readAttempt(runDir, options.cellId, options.attempt)
    if (captured === null) return
    const { exchanges } = readCapture(captured.text, captured.path)
    // Attempts at one call share its place, and the client saw the last of them.
    const last = new Map(exchanges.map((exchange) => [placeOf(exchange), exchange]))
    for (const exchange of exchanges) {
      if (last.get(placeOf(exchange)) !== exchange) {
        this.#retried.add(exchange)
        continue
      }
      this.#exchanges.push(exchange)
      const ordinal = this.#ordinals.get(exchange.key) ?? 0
      this.#ordinals.set(exchange.key, Math.max(ordinal, exchange.ordinal + 1))
    }
    this.#live += exchanges.length
  }

  /**
   * Whether this request was made again as often as we do. Clients that repeat it themselves then get one attempt for
   * each of theirs: their retries must not multiply ours.
   */
  isSpent(key: string): boolean {
    return this.#spent.has(key)
  }

  setSpent(key: string, spent: boolean): void {
    if (spent) this.#spent.add(key)
    else this.#spent.delete(key)
  }

  lose(lost: LostCall): void {
    const { role, scorer } = lost
    if (!this.#lost.some((known) => known.role === role && known.scorer === scorer)) this.#lost.push(lost)
  }

  /** Marks a request as under way, so that `close` waits for it; returns what marks its end. */
  begin(request: LooseRequest): () => void {
    let end = () => {}
    const under = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#open.set(request, under)
    return () => {
      this.#open.delete(request)
      end()
    }
  }

  miss(miss: ReplayMiss): void {
    this.#misses.push(miss)
  }

  refuseLate(request: LooseRequest): void {
    this.#late.push(request)
    if (this.#closed && !this.#cutOff) this.#parts.port.late(this.options.coordinates, request)
  }

  missingKey(name: string): void {
    this.#missingKeys.add(name)
  }

  /** Resolves when the journal durably says that this cell buys something. */
  admit(lane: string | null): Promise<void> {
    const { port, options } = this.#parts
    this.#admitted ??= port.admitted(options.cellId, options.attempt, lane ?? options.declaredLane)
    return this.#admitted
  }

  onWait(listener: (waiting: boolean) => void): void {
    this.permits.onWait(listener)
  }

  late(): readonly LooseRequest[] {
    return this.#late
  }

  close(graceMs: number, cutOff = false): CellTrafficResult | Promise<CellTrafficResult> {
    this.#closed = true
    this.#cutOff = cutOff
    return this.#open.size === 0 && this.#raw === null ? this.#result([]) : this.#end(graceMs)
  }

  async #end(graceMs: number): Promise<CellTrafficResult> {
    const bodies = () => Promise.all(this.#open.values())
    let open: LooseRequest[] = []
    if (this.#open.size > 0 && !(await settlesWithin(this.#parts.clock, bodies(), graceMs))) {
      open = [...this.#open.keys()]
      this.#abort?.abort(new DOMException('The cell is over', 'AbortError'))
      await bodies()
    }
    await this.#raw?.close()
    return this.#result(open)
  }

  #result(open: readonly LooseRequest[]): CellTrafficResult {
    return {
      exchanges: this.#kept(),
      retried: [...this.#retried],
      lost: this.#lost,
      misses: this.#misses,
      open,
      unused: this.#unused(),
      waitedMs: this.permits.waitedMs,
      recordedAt: this.#parts.recording?.recordedAt ?? null,
      missingKeys: [...this.#missingKeys],
    }
  }

  save(): readonly string[] | Promise<readonly string[]> {
    const exchanges = this.#kept()
    if (!this.records || (exchanges.length === 0 && !this.#parts.replaces)) return []
    return this.#write(exchanges)
  }

  async #write(exchanges: readonly Exchange[]): Promise<readonly string[]> {
    const { options, redactor, clock } = this.#parts
    const place = recordingPlace(options.evalFile, options.coordinates)
    if (exchanges.length === 0) {
      await removeRecording(place)
      return []
    }
    const { campaignId, variantId, scenarioId, seed } = options.coordinates
    const recordedAt = clock.instant()
    const share = bodyShare()
    const text = encodeRecording({ campaignId, variantId, scenarioId, seed, recordedAt, exchanges }, share)
    const found = new Set(redactor.scan(withoutDigests(text, share.files.keys())))
    for (const bytes of share.files.values()) {
      for (const rule of redactor.scan(Buffer.from(bytes).toString('latin1'))) found.add(rule)
    }
    const secrets = [...found].sort()
    if (secrets.length === 0 && !(await this.#isThere(place, exchanges))) await writeRecording(place, text, share.files)
    return secrets
  }

  /** True where the recording in place says the same but for times: then no byte of it changes. */
  async #isThere(place: RecordingPlace, exchanges: readonly Exchange[]): Promise<boolean> {
    const text = await readRecording(place)
    if (text === null) return false
    try {
      const open = (name: string) => readShared(join(place.base, RECORDINGS), name)
      return sameTraffic(decodeRecording(text, place.file, open).value.exchanges, exchanges)
    } catch {
      // Unreadable, and about to be replaced.
      return false
    }
  }

  #kept(): Exchange[] {
    return this.#exchanges.filter((exchange) => exchange !== null)
  }

  /** A mock that was not asked again is no provider answer that went stale. */
  #unused(): LooseRequest[] {
    const unused = this.tape?.unused() ?? []
    return unused
      .filter(({ source }) => source !== 'mocked')
      .map(({ role, request: { method, url } }) => ({ role, method, url }))
  }
}
