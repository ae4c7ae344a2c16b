/** Where a command runs: everything of the process that it may touch. */
export interface CliContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: CliStream
  readonly stderr: CliStream
}

export interface CliStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  hasColors?(env?: object): boolean
}

export interface CliOption {
  readonly type: 'boolean' | 'string'
  /** One letter. */
  readonly short?: string
  /** What stands for the value in the help of a `string` option. */
  readonly value?: string
  readonly description: string
}

/** What the user gave: options by name, in the types they are declared with, and the rest in order. */
export interface CliArguments {
  readonly positionals: readonly string[]
  flag(name: string): boolean
  text(name: string): string | undefined
}

export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Arguments as the help shows them; `[optional]` in brackets, `...` behind one that may be repeated. */
  readonly positionals: readonly string[]
  /** Sentences below the usage line. */
  readonly details: readonly string[]
  readonly options: { readonly [name: string]: CliOption }
  /** Resolves with the exit code. */
  run(context: CliContext, args: CliArguments): Promise<number>
}

/** A mistake of the user or something missing: its message is all there is to say. Exit code 2. */
export class CliError extends Error {
  override readonly name = 'CliError'
}

/** Exit code of wrong usage, wrong configuration and whatever could not be done. */
export const MISUSED = 2
