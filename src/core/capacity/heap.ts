/** Binary min-heap: push and pop in O(log n). */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (a: T, b: T) => number

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let at = items.length
    items.push(item)
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = items[up] as T // up < at
      if (this.#compare(parent, item) <= 0) break
      items[at] = parent
      at = up
    }
    items[at] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const moved = items.pop()
    if (items.length > 0) this.#sink(moved as T) // the heap was not empty, so pop() gave an item
    return top
  }

  /** Takes everything out, in order. */
  drain(): T[] {
    return this.#items.splice(0).sort(this.#compare)
  }

  #sink(item: T): void {
    const items = this.#items
    const size = items.length
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      const right = child + 1
      if (right < size && this.#compare(items[right] as T, items[child] as T) < 0) child = right // both < size
      const smaller = items[child] as T // child < size
      if (this.#compare(item, smaller) <= 0) break
      items[at] = smaller
      at = child
    }
    items[at] = item
  }
}
