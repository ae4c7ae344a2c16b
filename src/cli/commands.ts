import { accept } from './accept.ts'
import type { Command } from './command.ts'
import { compare } from './compare.ts'
import { exportCommand } from './export.ts'
import { gate } from './gate.ts'
import { importCommand } from './import.ts'
import { merge } from './merge.ts'
import { prereg } from './prereg.ts'
import { reconcile } from './reconcile.ts'
import { recordings } from './recordings.ts'
import { report } from './report.ts'

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  report,
  gate,
  merge,
  compare,
  accept,
  prereg,
  exportCommand,
  recordings,
  reconcile,
  importCommand,
]
