/**
 * The order in which the campaigns of a run are told: by the paths of their files, and in a file as they stand in it.
 * Which file was loaded first differs between two runs of the same files.
 */
export function inFileOrder<T>(campaigns: Iterable<T>, fileOf: (campaign: T) => string): T[] {
  return [...campaigns].sort((a, b) => {
    const [first, second] = [fileOf(a), fileOf(b)]
    if (first === second) return 0
    return first < second ? -1 : 1
  })
}
