import type { CliOption, Command } from './command.ts'

/** Options that every command has. */
export const COMMON_OPTIONS: Command['options'] = {
  root: { type: 'string', value: '<folder>', description: 'root of the eval project (holds .evals); default: here' },
  help: { type: 'boolean', short: 'h', description: 'this text' },
}

export const PROGRAM = 'vitest-campaign'

export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `usage: ${PROGRAM} <command> [options]`,
    '',
    'commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `${PROGRAM} <command> --help says more. DEBUG=1 shows the stack of an error.`,
    '',
  ].join('\n')
}

export function commandHelp(command: Command): string {
  const rows = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, option]) => [
    spelled(name, option),
    option.description,
  ])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return [
    `usage: ${[PROGRAM, command.name, ...command.positionals].join(' ')} [options]`,
    '',
    ...command.details,
    '',
    'options:',
    ...rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`),
    '',
  ].join('\n')
}

function spelled(name: string, { short, value }: CliOption): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
}
