import type { Command } from './command.ts'
import { gate } from './gate.ts'
import { importCommand } from './import.ts'
import { recordings } from './recordings.ts'
import { report } from './report.ts'

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [report, gate, recordings, importCommand]
