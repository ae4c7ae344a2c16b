import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json, ScoreContext, ScorerObject, ScoreValue } from '../../../core/campaign/definition.ts'
import { isObject, nameOf } from '../../../core/campaign/options.ts'
import { type FinishedCommand, identityOf, TAIL_BYTES } from '../../../core/command/checkpoint.ts'
import { printable } from '../../../core/traffic/hostile.ts'
import type { Clock } from '../../replay/clock.ts'
import { requireBridge, type WorkerBridge } from '../bridge.ts'
import { findCheckpoint, keepCheckpoint } from './checkpoints.ts'
import { digestFiles, sha256, workTree } from './inputs.ts'
import { folderIn, SCRATCH, writeFiles } from './place.ts'
import { type CommandEnd, type CommandLine, runCommand } from './process.ts'
import { noteRunning } from './running.ts'

type Of<Scenario, Output, T> = T | ((context: CommandContext<Scenario, Output>) => T)

export type CommandContext<Scenario, Output> = Pick<
  ScoreContext<unknown, Scenario, Output>,
  'output' | 'scenario' | 'seed' | 'cellId'
>

export interface CommandOptions<Scenario, Output> {
  /** The program and its arguments; no shell is between. */
  readonly argv: Of<Scenario, Output, readonly string[]>
  /** Files of what the subject made, by path below a folder that is made for this command and removed after it. */
  readonly files?: Of<Scenario, Output, { readonly [path: string]: string | Uint8Array }>
  /** Folder below the project root; default: that of `files`, else the root. */
  readonly cwd?: Of<Scenario, Output, string>
  /** Text for its standard input. */
  readonly stdin?: Of<Scenario, Output, string>
  /**
   * Environment variables that reach it, beside `PATH`, `HOME`, the locale and the like: a value, or `true` to pass on
   * that of this process. Nothing else does, keys least of all.
   */
  readonly env?: { readonly [name: string]: string | true }
  /** Milliseconds, at most 30 minutes; default 2 minutes. */
  readonly timeout?: number
  /** What a command that runs out of time is: no score (default), or a failed one. */
  readonly onTimeout?: 'error' | 'fail'
  /** Score of a finished command; default: passed where it exits with 0. */
  readonly parse?: (finished: FinishedCommand) => ScoreValue
  /** Patterns of the files below `cwd` that decide its result; default: the whole work tree of git. */
  readonly inputs?: readonly string[]
  /** A command whose output names the version of the tool: a result of another version is not served. */
  readonly version?: readonly string[]
  readonly scale?: readonly [lowest: number, highest: number] | null
  readonly passAt?: number
  readonly appliesTo?: (scenario: Scenario & { readonly id: string }) => boolean
}

/** A command that did not come to an end of its own: what it would have said of the output is not known. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Scores by a command on what the subject made: a test suite, a type check. It runs in a process group of its own, with
 * declared environment variables only. A finished command is kept under the digest of all that decides it, and served
 * where a run is taken up again; one that did not finish runs again.
 *
 * @throws TypeError for options that are none
 */
export function command<Scenario, Output>(
  options: CommandOptions<Scenario, Output>,
): ScorerObject<unknown, Scenario, Output> {
  checkOptions(options)
  const {
    argv,
    env = {},
    timeout = DEFAULT_TIMEOUT_MS,
    onTimeout = 'error',
    inputs,
    scale,
    passAt,
    appliesTo,
  } = options
  return {
    role: 'command',
    ...(scale === undefined ? {} : { scale }),
    ...(passAt === undefined ? {} : { passAt }),
    ...(appliesTo === undefined ? {} : { appliesTo }),
    config: {
      ...{ scorer: 'command', env: Object.keys(env).sort(), timeout, onTimeout },
      ...(typeof argv === 'function' ? {} : { argv }),
      ...(inputs === undefined ? {} : { inputs }),
    } satisfies Json,
    async score(context) {
      const bridge = requireBridge('command()')
      // A command is the user's own tool, declared as one: what keeps subjects from starting others is not for it.
      const ended = await bridge.scopes.exit(() => run(options, context, bridge))
      return scoreOf(ended, options)
    },
  }
}

const DEFAULT_TIMEOUT_MS = 120_000
const LONGEST_TIMEOUT_MS = 1_800_000
/** What a program needs to be found, to find its user and to speak a language. */
const BASE_ENV =
  'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP SYSTEMROOT WINDIR COMSPEC PATHEXT LANG LC_ALL LC_CTYPE TERM'.split(' ')

async function run<Scenario, Output>(
  options: CommandOptions<Scenario, Output>,
  context: ScoreContext<unknown, Scenario, Output>,
  bridge: WorkerBridge,
): Promise<CommandEnd> {
  const { root, runDir } = bridge.settings
  const { cellId, signal } = context
  const of = <T>(option: Of<Scenario, Output, T> | undefined): T | undefined =>
    typeof option === 'function' ? (option as (given: CommandContext<Scenario, Output>) => T)(context) : option
  const argv = checkedArgv(of(options.argv))
  const files = of(options.files)
  const stdin = of(options.stdin) ?? null
  const env = envOf(options.env ?? {})
  const timeoutMs = options.timeout ?? DEFAULT_TIMEOUT_MS
  const scratch = files === undefined ? null : await scratchIn(runDir)
  try {
    if (files !== undefined && scratch !== null) await writeFiles(scratch, files)
    const cwd = scratch === null ? await folderIn(root, of(options.cwd) ?? '.') : scratch
    const note = () => noteRunning(runDir, cellId, bridge.redactor.text(argv[0]).text)
    const line = { argv, cwd, env, timeoutMs, signal, note }
    const inputs = await inputsOf(options.inputs, files, cwd)
    const tree = inputs === null ? await workTree(cwd) : null
    const tool =
      options.version === undefined
        ? null
        : await versionOf({ ...line, argv: checkedArgv(options.version) }, bridge.clock)
    const identity =
      inputs === null && tree === null
        ? null
        : identityOf({
            ...{ cellId, argv, env, stdin, timeoutMs, inputs, tree, tool },
            cwd: scratch === null ? (of(options.cwd) ?? '.') : null,
          })
    const known = identity === null ? null : await findCheckpoint([runDir], identity)
    if (known !== null) return { kind: 'exit', ...known }
    let ended = await runCommand({ ...line, stdin }, bridge.clock)
    // Killed from outside (by a system short of memory, mostly): once is bad luck, twice is a finding.
    if (ended.kind === 'killed') ended = await runCommand({ ...line, stdin }, bridge.clock)
    if (ended.kind !== 'exit') return ended
    // Redaction may make a text longer than what is kept of one.
    const said = (text: string): string => bridge.redactor.text(text).text.slice(-TAIL_BYTES)
    const finished = { exitCode: ended.exitCode, stdout: said(ended.stdout), stderr: said(ended.stderr) }
    if (identity !== null) await keepCheckpoint(runDir, identity, finished)
    return { kind: 'exit', ...finished }
  } finally {
    if (scratch !== null) await rm(scratch, { recursive: true, force: true })
  }
}

async function scratchIn(runDir: string): Promise<string> {
  const folder = join(runDir, SCRATCH)
  // Not with what is above it: a run folder that somebody deleted stays so.
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return mkdtemp(join(folder, 'command-'))
}

/** Digests of what decides the result as far as it is declared; null: the work tree decides. */
async function inputsOf(
  patterns: readonly string[] | undefined,
  files: { readonly [path: string]: string | Uint8Array } | undefined,
  cwd: string,
): Promise<{ readonly [path: string]: string } | null> {
  if (files !== undefined) return Object.fromEntries(Object.entries(files).map(([path, data]) => [path, sha256(data)]))
  return patterns === undefined ? null : digestFiles(cwd, patterns)
}

async function versionOf(line: Omit<CommandLine, 'stdin'>, clock: Clock): Promise<string> {
  const ended = await runCommand({ ...line, stdin: null }, clock)
  if (ended.kind === 'exit' && ended.exitCode === 0) return (ended.stdout + ended.stderr).trim()
  throw new CommandError(`command: ${shownArgv(line.argv)}, asked for the version of the tool, ${endText(ended)}`)
}

function envOf(declared: { readonly [name: string]: string | true }): { readonly [name: string]: string } {
  const env: Record<string, string> = {}
  for (const name of BASE_ENV) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  for (const [name, given] of Object.entries(declared)) {
    const value = given === true ? process.env[name] : given
    if (value !== undefined) env[name] = value
  }
  return env
}

function scoreOf<Scenario, Output>(ended: CommandEnd, options: CommandOptions<Scenario, Output>): ScoreValue {
  if (ended.kind === 'exit') {
    if (options.parse !== undefined) return options.parse(ended)
    return ended.exitCode === 0 || { value: false, rationale: endText(ended) }
  }
  if (ended.kind === 'timeout' && options.onTimeout === 'fail') return { value: false, rationale: endText(ended) }
  throw new CommandError(`command: ${endText(ended)}`)
}

/** What a command says at its end, in a rationale: lines, code units. */
const SHOWN_LINES = 12
const SHOWN_LENGTH = 1_200

function endText(ended: CommandEnd): string {
  switch (ended.kind) {
    case 'exit':
      return `exit code ${ended.exitCode}${lastLines(ended)}`
    case 'timeout':
      return `did not end in time and was stopped${lastLines(ended)}`
    case 'killed':
      return `was killed by ${ended.signal}, twice`
    case 'aborted':
      return 'was stopped with its cell'
    case 'unstarted':
      return `could not be started: ${ended.message}`
  }
}

function lastLines({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return ''
  const text = lines.slice(-SHOWN_LINES).join('\n')
  return `:\n${printable(text.slice(-SHOWN_LENGTH))}`
}

const shownArgv = (argv: readonly string[]): string => JSON.stringify(argv.join(' ').slice(0, 200))

function checkedArgv(argv: readonly string[] | undefined): readonly [string, ...string[]] {
  const [program, ...rest] = Array.isArray(argv) ? (argv as readonly unknown[]) : []
  if (typeof program !== 'string' || program === '' || !rest.every((each) => typeof each === 'string')) {
    throw new TypeError('command: argv must be a list of texts, the program first')
  }
  return [program, ...(rest as string[])]
}

const OPTIONS: { readonly [name in keyof Required<CommandOptions<unknown, unknown>>]: true } = {
  ...{ argv: true, files: true, cwd: true, stdin: true, env: true, timeout: true, onTimeout: true, parse: true },
  ...{ inputs: true, version: true, scale: true, passAt: true, appliesTo: true },
}

function checkOptions<Scenario, Output>(options: CommandOptions<Scenario, Output>): void {
  if (!isObject(options)) throw new TypeError(`command: options must be an object, not ${nameOf(options)}`)
  const refuse = (problem: string): never => {
    throw new TypeError(`command: ${problem}`)
  }
  const stray = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name))
  if (stray !== undefined)
    refuse(`unknown option ${JSON.stringify(stray)}; known are ${Object.keys(OPTIONS).join(', ')}`)
  const { argv, files, cwd, env, timeout, onTimeout, inputs, version, parse } = options
  if (typeof argv !== 'function') checkedArgv(argv)
  if (version !== undefined) checkedArgv(version)
  if (files !== undefined && cwd !== undefined)
    refuse('has `files` and `cwd`: files are written to a folder of their own')
  if (files !== undefined && inputs !== undefined) refuse('has `files` and `inputs`: files are the inputs')
  if (parse !== undefined && typeof parse !== 'function') refuse(`parse must be a function, not ${nameOf(parse)}`)
  if (inputs !== undefined && (!Array.isArray(inputs) || inputs.length === 0))
    refuse('inputs must be a list of patterns')
  if (onTimeout !== undefined && onTimeout !== 'error' && onTimeout !== 'fail') {
    refuse(`onTimeout must be 'error' or 'fail', not ${nameOf(onTimeout)}`)
  }
  if (timeout !== undefined && !(timeout > 0 && timeout <= LONGEST_TIMEOUT_MS)) {
    refuse(`timeout must be milliseconds, more than 0 and at most ${LONGEST_TIMEOUT_MS}, not ${nameOf(timeout)}`)
  }
  for (const [name, value] of Object.entries(env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) refuse(`env has ${JSON.stringify(name)}, which is no variable name`)
    if (value !== true && typeof value !== 'string') refuse(`env.${name} must be text, or true to pass it on`)
  }
}
