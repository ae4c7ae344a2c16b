import { printable } from '../core/traffic/hostile.ts'
import { findCommand, readArguments } from './arguments.ts'
import { type CliContext, CliError, type Command, MISUSED } from './command.ts'
import { commandHelp, PROGRAM, programHelp } from './help.ts'

/** Runs one command line. Never rejects: what goes wrong is said on stderr, and the exit code is 2. */
export async function runProgram(
  commands: readonly Command[],
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  try {
    return await dispatch(commands, args, context, version)
  } catch (error) {
    context.stderr.write(`${PROGRAM}: ${printable(messageOf(error))}\n`)
    const { stack } = error instanceof Error ? error : {}
    if (context.env.DEBUG && stack !== undefined) context.stderr.write(`${printable(stack)}\n`)
    return MISUSED
  }
}

async function dispatch(
  commands: readonly Command[],
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  const [name, ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') {
    context.stdout.write(programHelp(commands))
    return 0
  }
  if (name === '--version' || name === '-v') {
    context.stdout.write(`${version}\n`)
    return 0
  }
  if (name === undefined) {
    context.stderr.write(programHelp(commands))
    return MISUSED
  }
  if (name.startsWith('-')) throw new CliError(`${name} stands before the command: see ${PROGRAM} --help`)
  const command = findCommand(commands, name)
  const parsed = readArguments(command, rest)
  if (parsed.flag('help')) {
    context.stdout.write(commandHelp(command))
    return 0
  }
  return command.run(context, parsed)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
