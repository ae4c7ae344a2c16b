/** What a process said on several streams, by whole lines: none of one stream is cut by what came on another meanwhile. */
export class Said {
  #lines = ''
  /** The line that each stream has begun. */
  readonly #begun = new Map<NodeJS.ReadableStream, string>()

  /** Reads from the streams until the answered function is called. */
  listen(streams: readonly (NodeJS.ReadableStream | null)[], heard: () => void = () => {}): () => void {
    const stops = streams.map((stream) => {
      if (stream === null) return () => {}
      // A character may come in two pieces.
      stream.setEncoding('utf8')
      const read = (chunk: string): void => {
        const text = (this.#begun.get(stream) ?? '') + chunk
        const end = text.lastIndexOf('\n') + 1
        this.#lines += text.slice(0, end)
        this.#begun.set(stream, text.slice(end))
        heard()
      }
      stream.on('data', read)
      return () => void stream.off('data', read)
    })
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** How many streams have said this last. */
  ending(text: string): number {
    return [...this.#begun.values()].filter((line) => line.endsWith(text)).length
  }

  get text(): string {
    return this.#lines + [...this.#begun.values()].join('')
  }
}
