import { COMMANDS } from '../../src/cli/commands.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { CliResult } from '../harness/run-cli.ts'

/** Runs a command line in this process: the same program without the start of one, for tables of bad input. */
export async function runHere(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  let stdout = ''
  let stderr = ''
  const code = await runProgram(
    COMMANDS,
    args,
    {
      cwd,
      env: { NO_COLOR: '1', LANG: 'C.UTF-8', ...env },
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
    },
    '0.0.0',
  )
  return { code, stdout, stderr }
}
