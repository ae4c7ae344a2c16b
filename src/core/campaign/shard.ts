/** One of `count` equal parts of a project's cells; `index` counts from 1, as in `--shard 1/3`. */
export interface Shard {
  readonly index: number
  readonly count: number
}

/** @throws TypeError for anything but `<index>/<count>` */
export function parseShard(text: string, name: string): Shard {
  const [, first = '', second = ''] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text.trim()) ?? []
  const shard = { index: Number(first), count: Number(second) }
  if (first !== '' && shard.index <= shard.count) return shard
  throw new TypeError(`${name} is ${JSON.stringify(text)}: write <index>/<count>, such as 1/3, with 1 ≤ index ≤ count`)
}

/**
 * Whether a shard runs a cell. By the cell's id, which is a digest: neither the number of files nor the order of anything
 * enters, and a cell that is added or removed moves no other one.
 */
export function isInShard(cellId: string, { index, count }: Shard): boolean {
  return Number.parseInt(cellId.slice(0, 12), 16) % count === index - 1
}
