import { printable } from '../core/traffic/hostile.ts'
import type { CliContext } from './command.ts'

/** Something beside the result: on stderr, so that a pipe gets the result alone. */
export function note(context: CliContext, text: string): void {
  context.stderr.write(`note: ${printable(text)}\n`)
}
