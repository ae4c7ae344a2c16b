import type { RunRecord } from '../../core/record/record.ts'

/** Called once for every record, when it is durable. */
export type OnRecord = (record: RunRecord) => unknown

/** How long what listeners began may take when the run is over, milliseconds. */
const LAST_MS = 10_000

/** Gives a user's `onRecord` every record. Whatever it does, it is told of and no run is lost by it. */
export class RecordListener {
  readonly #listen: OnRecord
  readonly #tell: (text: string) => void
  readonly #pending = new Set<Promise<void>>()
  readonly #told = new Set<string>()
  #failures = 0

  /** @param tell each different failure, once */
  constructor(listen: OnRecord, tell: (text: string) => void) {
    this.#listen = listen
    this.#tell = tell
  }

  /** @param record as JSON text: what the listener gets is its own */
  record(record: string): void {
    const given = JSON.parse(record) as RunRecord
    try {
      const answer = this.#listen(given)
      if (typeof answer !== 'object' || answer === null || !('then' in answer)) return
      const pending: Promise<void> = Promise.resolve(answer as PromiseLike<unknown>)
        .then(
          () => {},
          (error: unknown) => this.#failed(error),
        )
        .finally(() => this.#pending.delete(pending))
      this.#pending.add(pending)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Waits for what it began, not for ever. */
  async over(ms = LAST_MS): Promise<void> {
    if (this.#pending.size > 0) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, ms, 'late')
      })
      const left = await Promise.race([Promise.all(this.#pending), late])
      clearTimeout(timer)
      if (left === 'late')
        this.#tell(`onRecord: ${this.#pending.size} of its promises did not settle in ${ms / 1000} s`)
    }
    if (this.#failures > 1) this.#tell(`onRecord failed for ${this.#failures} records`)
  }

  #failed(error: unknown): void {
    this.#failures++
    const text = `onRecord failed, and the run goes on: ${error instanceof Error ? error.message : String(error)}`
    // Of a thousand records the same complaint is one.
    if (this.#told.has(text) || this.#told.size > 4) return
    this.#told.add(text)
    this.#tell(text)
  }
}
