import fc from 'fast-check'

/**
 * The same inputs on every machine, so that a red run is red again; `FC_SEED=<number>` looks elsewhere. A seed that finds
 * something becomes a named test.
 */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20261129) })
