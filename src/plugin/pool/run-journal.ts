import type { Appender } from '../../core/journal/append.ts'

type Entry = Parameters<Appender['append']>[0]

/** The journal of a run. One that cannot be written ends the run: what is done after that would be on no record. */
export class RunJournal {
  readonly #appender: Appender
  readonly #onFailure: () => void
  #failure: Error | null = null

  constructor(appender: Appender, onFailure: () => void) {
    this.#appender = appender
    this.#onFailure = onFailure
  }

  /** The first thing that could not be written, or null. */
  get failure(): Error | null {
    return this.#failure
  }

  /** Resolves when the entry is durable; a failure is the run's. */
  async append(entry: Entry): Promise<void> {
    try {
      await this.#appender.append(entry)
    } catch (error) {
      this.fail(error)
      throw error
    }
  }

  /** Durable with the next `append`, or when the journal closes. */
  appendLazy(entry: Entry): void {
    this.#appender.appendLazy(entry)
  }

  async close(): Promise<void> {
    await this.#appender.close()
  }

  fail(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = error instanceof Error ? error : new Error(String(error))
    this.#onFailure()
  }
}
