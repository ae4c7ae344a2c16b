#!/usr/bin/env node
import { createRequire } from 'node:module'
import { COMMANDS } from './commands.ts'
import { runProgram } from './program.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

// A reader that closes the pipe (`| head`) has seen what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runProgram(
  COMMANDS,
  process.argv.slice(2),
  { cwd: process.cwd(), env: process.env, stdout: process.stdout, stderr: process.stderr },
  version,
)
