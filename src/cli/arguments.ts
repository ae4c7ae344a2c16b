import { parseArgs } from 'node:util'
import { nearest } from '../core/campaign/options.ts'
import { type CliArguments, CliError, type Command } from './command.ts'
import { COMMON_OPTIONS, PROGRAM } from './help.ts'

/** @throws CliError for an unknown command, naming the closest one */
export function findCommand(commands: readonly Command[], name: string): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  const near = nearest(name, names)
  const hint = near === null ? `the commands are ${names.join(', ')}` : `did you mean ${JSON.stringify(near)}?`
  throw new CliError(`${JSON.stringify(name)} is no command: ${hint}`)
}

/** @throws CliError for an unknown option, an option without its value, too many or too few arguments */
export function readArguments(command: Command, args: readonly string[]): CliArguments {
  const options = { ...command.options, ...COMMON_OPTIONS }
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const flags = new Set<string>()
  const texts = new Map<string, string>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (option === undefined) throw unknownOption(command, token.rawName, Object.keys(options))
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw new CliError(`${token.rawName} takes no value`)
      flags.add(token.name)
      continue
    }
    const missing = token.value === undefined || token.value === '' || (!token.inlineValue && /^-./.test(token.value))
    if (missing) throw new CliError(`${token.rawName} needs a value: ${token.rawName} ${option.value ?? '<value>'}`)
    if (texts.has(token.name)) throw new CliError(`${token.rawName} is given twice`)
    texts.set(token.name, token.value ?? '')
  }
  if (!flags.has('help')) checkCount(command, positionals)
  return { positionals, flag: (name) => flags.has(name), text: (name) => texts.get(name) }
}

function unknownOption(command: Command, raw: string, known: readonly string[]): CliError {
  const near = nearest(raw.replace(/^-+/, ''), known)
  const hint = near === null ? `see ${PROGRAM} ${command.name} --help` : `did you mean ${JSON.stringify(`--${near}`)}?`
  return new CliError(`${raw} is no option of ${PROGRAM} ${command.name}: ${hint}`)
}

function checkCount(command: Command, given: readonly string[]): void {
  const required = command.positionals.filter((name) => !name.startsWith('['))
  const usage = [PROGRAM, command.name, ...command.positionals].join(' ')
  const missing = required[given.length]
  if (missing !== undefined) throw new CliError(`${missing} is missing: ${usage}`)
  const many = command.positionals.at(-1)?.endsWith('...') === true
  const extra = many ? undefined : given[command.positionals.length]
  if (extra !== undefined) throw new CliError(`${JSON.stringify(extra)} is one argument too many: ${usage}`)
}
