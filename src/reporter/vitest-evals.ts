import type { RunRecord } from '../core/record/record.ts'

/** `task.meta.eval` and `task.meta.harness` as vitest-evals 0.16 writes them, which its action and its report UI read. */
export interface VitestEvalsMeta {
  readonly eval: {
    /** The primary score; null: the cell has none. */
    readonly avgScore: number | null
    readonly scores: readonly {
      readonly name: string
      readonly score: number | null
      readonly metadata?: { readonly rationale?: string; readonly error?: string }
    }[]
    readonly output?: string
    readonly thresholdFailed: boolean
  }
  readonly harness: {
    readonly name: string
    readonly run: {
      readonly output?: string
      readonly session: {
        readonly events: readonly { readonly type: 'message'; readonly role: 'assistant'; readonly content: string }[]
        readonly model?: string
      }
      readonly usage: {
        readonly model?: string
        readonly inputTokens?: number
        readonly outputTokens?: number
        readonly reasoningTokens?: number
        readonly totalTokens?: number
        readonly retries: number
      }
      readonly timings: { readonly totalMs?: number }
      readonly errors: readonly { readonly type: string; readonly message: string }[]
    }
  }
}

/**
 * The record of a cell in the shape of vitest-evals. Its readers know no null but for scores: what is not known is left
 * out. Their threshold is our `pass`; a failed one does not make the test red.
 */
export function vitestEvalsMeta(record: RunRecord): VitestEvalsMeta {
  const { scores, score, pass, output, model, tokens, calls, wallMs, providerMs, failure, status } = record
  const said = output === null ? {} : { output: output.preview }
  const served = model.served[0] ?? model.requested[0]
  const named = served === undefined ? {} : { model: served }
  const ms = wallMs ?? providerMs
  return {
    eval: {
      avgScore: score,
      scores: Object.entries(scores).map(([name, { value, rationale, error }]) => {
        const metadata = {
          ...(rationale === undefined ? {} : { rationale }),
          ...(error === undefined ? {} : { error }),
        }
        return { name, score: value, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) }
      }),
      ...said,
      thresholdFailed: pass === false,
    },
    harness: {
      name: record.variantId,
      run: {
        ...said,
        session: {
          events: output === null ? [] : [{ type: 'message', role: 'assistant', content: output.preview }],
          ...named,
        },
        usage: { ...named, ...usage(tokens), retries: calls.retried },
        timings: ms === null ? {} : { totalMs: ms },
        errors:
          failure === null
            ? status === 'scored'
              ? []
              : [{ type: status, message: record.reason ?? status }]
            : [{ type: `${status}: ${failure.class}`, message: failure.message ?? failure.mode ?? failure.class }],
      },
    },
  }
}

function usage({ input, output, reasoning, known }: RunRecord['tokens']) {
  return {
    ...(input === null ? {} : { inputTokens: input }),
    ...(output === null ? {} : { outputTokens: output }),
    ...(reasoning === null ? {} : { reasoningTokens: reasoning }),
    // A sum of which a part is missing would pass for the whole.
    ...(input === null || output === null || !known ? {} : { totalTokens: input + output }),
  }
}
