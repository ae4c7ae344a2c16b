import fc from 'fast-check'

/**
 * The same inputs on every machine, so that a red run is red again; `FC_SEED=<number>` looks elsewhere. A seed that finds
 * something becomes a named test.
 */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20261129) })

/** How many cases a dear law is tried on; `FC_RUNS=<factor>` tries so many times as many. */
export const cases = (count: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil(count * Number(process.env.FC_RUNS ?? 1)),
})
