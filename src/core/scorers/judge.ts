import type { Json, ScoreContext, ScorerObject, ScoreValue } from '../campaign/definition.ts'
import { isObject, nameOf } from '../campaign/options.ts'
import { shown } from './expected.ts'
import { askAgain, judgePrompt, PROMPT_VERSION } from './judge-prompt.ts'
import { isStandardSchema, type StandardSchema } from './standard-schema.ts'
import { verdictOf } from './verdict.ts'

/** What the user's client needs for one question; no variant is named. */
export interface JudgeCall {
  /** Aborts when the verdict is not wanted any more; hand it to the call. */
  readonly signal: AbortSignal
  /** Captured and replayed like the global one, and faster in replay. */
  readonly fetch: typeof globalThis.fetch
  /** 1, and 2 when the first answer held no usable verdict. */
  readonly attempt: 1 | 2
  readonly seed: number
}

export interface JudgeOptions<Scenario, Output, Verdict> {
  /** Asks the model with your own client; gives its text, or its answer as an object where the client parsed it. */
  readonly ask: (prompt: string, call: JudgeCall) => unknown | Promise<unknown>
  /** What a good answer is, in words. */
  readonly rubric: string | ((scenario: Scenario) => string)
  /**
   * What a verdict must be (zod, valibot, arktype). Default: `{ rationale: string, pass: boolean }`, or
   * `{ rationale: string, score: number }` where a `scale` is given.
   */
  readonly schema?: StandardSchema & {
    readonly '~standard': { readonly types?: { readonly output: Verdict } | undefined }
  }
  /** How the answer must look, in words or as JSON Schema, for a `schema` of your own. */
  readonly format?: string
  /** The score of a verdict; default: its `pass`, `score` and `rationale`. */
  readonly read?: (verdict: Verdict) => ScoreValue
  /** The task as the judge sees it; default: the scenario's own fields as JSON. */
  readonly task?: (scenario: Scenario) => string
  /** The output as the judge sees it; default: text as it is, anything else as JSON. */
  readonly artifact?: (output: Output) => string
  /** The lane of the judge's model. */
  readonly lane?: string
  readonly scale?: readonly [lowest: number, highest: number]
  readonly passAt?: number
  readonly appliesTo?: (scenario: Scenario & { readonly id: string }) => boolean
  /** Milliseconds for both questions; default: what is left of the cell's deadline. */
  readonly timeout?: number
  readonly rates?: string
}

/** A judge that gave no usable verdict, twice. The cell is `judge_error` where it decides, never a score. */
export class JudgeError extends Error {
  override readonly name = 'JudgeError'
}

/**
 * A model as scorer. The answer is checked by a schema; one that holds no verdict, two, or a quoted one is asked for
 * once more, in words that say why, and is then an error. The calls are the user's own, recorded with the role judge.
 *
 * @throws TypeError for options that are none
 */
export function judge<Scenario, Output = unknown, Verdict = DefaultVerdict>(
  options: JudgeOptions<Scenario, Output, Verdict>,
): ScorerObject<unknown, Scenario, Output> {
  const { ask, rubric, schema, read, task, artifact, scale } = options
  checkOptions(options)
  const wanted = schema ?? defaultSchema(scale)
  const format = formatOf(options)
  return {
    role: 'judge',
    ...given({ scale, passAt: options.passAt, appliesTo: options.appliesTo, lane: options.lane }),
    ...given({ timeout: options.timeout, rates: options.rates }),
    config: {
      ...{ scorer: 'judge', prompt: PROMPT_VERSION, format },
      ...(typeof rubric === 'string' ? { rubric } : {}),
    } satisfies Json,
    async score({ output, scenario, seed, signal, fetch }: ScoreContext<unknown, Scenario, Output>) {
      const judged = artifact === undefined ? textOf(output) : artifact(output)
      const first = judgePrompt({
        rubric: typeof rubric === 'function' ? rubric(scenario) : rubric,
        task: task === undefined ? taskOf(scenario) : task(scenario),
        artifact: judged,
        format,
      })
      let prompt = first
      let defect = ''
      let answer: unknown
      for (const attempt of [1, 2] as const) {
        answer = await ask(prompt, { signal, fetch, attempt, seed })
        signal.throwIfAborted()
        const verdict = await verdictOf(answer, wanted, judged)
        if ('value' in verdict) return read === undefined ? scoreOf(verdict.value) : read(verdict.value as Verdict)
        defect = verdict.defect
        prompt = askAgain(first, defect)
      }
      throw new JudgeError(
        `the judge gave no usable verdict, asked twice: the answer was not taken because ${defect}. It said ${shown(answer)}`,
      )
    },
  }
}

export interface DefaultVerdict {
  readonly rationale: string
  readonly pass?: boolean
  readonly score?: number
}

const OPTIONS: { readonly [name in keyof Required<JudgeOptions<unknown, unknown, unknown>>]: true } = {
  ...{ ask: true, rubric: true, schema: true, format: true, read: true, task: true, artifact: true, lane: true },
  ...{ scale: true, passAt: true, appliesTo: true, timeout: true, rates: true },
}

function checkOptions<Scenario, Output, Verdict>(options: JudgeOptions<Scenario, Output, Verdict>): void {
  if (!isObject(options)) throw new TypeError(`judge: options must be an object, not ${nameOf(options)}`)
  const stray = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name))
  if (stray !== undefined) {
    throw new TypeError(`judge: unknown option ${JSON.stringify(stray)}; known are ${Object.keys(OPTIONS).join(', ')}`)
  }
  const { ask, rubric, schema, format, read, task, artifact } = options
  for (const [name, value] of Object.entries({ ask, read, task, artifact })) {
    if (typeof value === 'function' || (value === undefined && name !== 'ask')) continue
    throw new TypeError(`judge: ${name} must be a function, not ${nameOf(value)}`)
  }
  if (typeof rubric !== 'function' && (typeof rubric !== 'string' || rubric.trim() === '')) {
    throw new TypeError(`judge: rubric must be text or a function of the scenario, not ${nameOf(rubric)}`)
  }
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw new TypeError(`judge: schema must be a Standard Schema (zod, valibot, arktype), not ${nameOf(schema)}`)
  }
  if (format !== undefined && typeof format !== 'string') {
    throw new TypeError(`judge: format must be text, not ${nameOf(format)}`)
  }
}

function formatOf<Scenario, Output, Verdict>({
  schema,
  format,
  scale,
}: JudgeOptions<Scenario, Output, Verdict>): string {
  if (format !== undefined) return `Answer with one JSON object and nothing else: ${format}`
  if (schema !== undefined) return 'Answer with one JSON object and nothing else, as the rubric asks for.'
  const said =
    scale === undefined ? '"pass": true or false' : `"score": a number from ${scale[0]} (worst) to ${scale[1]} (best)`
  return `Answer with one JSON object and nothing else: {"rationale": one or two sentences, ${said}}`
}

function defaultSchema(scale: JudgeOptions<unknown, unknown, unknown>['scale']): StandardSchema {
  const validate = (value: unknown) => {
    const { rationale, pass, score } = Object(value) as { readonly [name: string]: unknown }
    const issue = (message: string) => ({ issues: [{ message }] })
    if (typeof rationale !== 'string') return issue('"rationale" must be text')
    if (scale === undefined) return typeof pass === 'boolean' ? { value } : issue('"pass" must be true or false')
    if (typeof score !== 'number' || score < scale[0] || score > scale[1]) {
      return issue(`"score" must be a number from ${scale[0]} to ${scale[1]}`)
    }
    return { value }
  }
  return { '~standard': { version: 1, vendor: 'vitest-campaign', validate } }
}

/** @throws TypeError for a verdict that says neither: a schema of the user's own needs `read` */
function scoreOf(verdict: unknown): ScoreValue {
  const { pass, score, rationale } = Object(verdict) as { readonly [name: string]: unknown }
  const said = typeof rationale === 'string' ? { rationale } : {}
  if (typeof score === 'number') return { value: score, ...said, ...(typeof pass === 'boolean' ? { pass } : {}) }
  if (typeof pass === 'boolean') return { value: pass, ...said }
  throw new TypeError(
    'judge: the verdict has neither `pass` nor `score`: say with `read: (verdict) => …` what its score is',
  )
}

/** What a scenario carries for the campaign, not for whoever reads it; a canary must never reach a provider. */
const BOOKKEEPING = new Set(['id', 'mustPass', 'family', 'split', 'canary'])

function taskOf(scenario: unknown): string {
  const own = Object.entries(Object(scenario) as object).filter(([name]) => !BOOKKEEPING.has(name))
  return JSON.stringify(Object.fromEntries(own), null, 2)
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output, null, 2) ?? String(output))
}

/** Without the members that are undefined: `exactOptionalPropertyTypes` tells them from absent ones. */
function given<T extends object>(options: T): { [name in keyof T]: Exclude<T[name], undefined> } {
  const known = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as { [name in keyof T]: Exclude<T[name], undefined> }
}
