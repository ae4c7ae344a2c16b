/** Asks of one kind that wait for an answer or hold what they were granted, each under a number of its own. */
export class Asked<Reply> {
  readonly #open = new Map<number, { readonly cellId: string; readonly resolve: (reply: Reply) => void }>()
  readonly #byCell = new Map<string, Set<number>>()
  #next = 1

  ask(cellId: string): { readonly id: number; readonly reply: Promise<Reply> } {
    const id = this.#next++
    const reply = new Promise<Reply>((resolve) => {
      this.#open.set(id, { cellId, resolve })
    })
    const own = this.#byCell.get(cellId)
    if (own === undefined) this.#byCell.set(cellId, new Set([id]))
    else own.add(id)
    return { id, reply }
  }

  /** @param refused nothing is held, so that nothing is to be given back */
  answer(id: number, reply: Reply, refused: boolean): void {
    this.#open.get(id)?.resolve(reply)
    if (refused) this.done(id)
  }

  /** True the first time: then what was asked for is to be given back. An answer that still comes reaches nobody. */
  done(id: number): boolean {
    const ask = this.#open.get(id)
    if (ask === undefined) return false
    this.#open.delete(id)
    const own = this.#byCell.get(ask.cellId)
    own?.delete(id)
    if (own?.size === 0) this.#byCell.delete(ask.cellId)
    return true
  }

  /** The cell is over or gone, and so is what it asked for. */
  forget(cellId: string): void {
    for (const id of this.#byCell.get(cellId) ?? []) this.#open.delete(id)
    this.#byCell.delete(cellId)
  }
}
