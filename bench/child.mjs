import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** GNU time counts a process with its threads and the children it waited for. */
const TIME = '/usr/bin/time'
const timed = process.platform === 'linux' && existsSync(TIME)

/** Several may run at once. */
let runs = 0

const LIMIT_MS = 20 * 60_000

/**
 * Runs a command to its end. CPU time and peak memory (of the largest process) are null where GNU time is not
 * installed.
 *
 * @returns {Promise<{ wallMs: number, cpuMs: number | null, rssMb: number | null, output: string }>}
 */
export async function runChild([command, ...args], { cwd, env = {} }) {
  const report = join(tmpdir(), `vitest-campaign-bench-${process.pid}-${++runs}.time`)
  const line = timed ? [TIME, '-o', report, '-f', '%U %S %M', command, ...args] : [command, ...args]
  // In CI `auto` replays; colours and live lines are not what is measured.
  const { CI: _, ...inherited } = process.env
  const child = spawn(line[0], line.slice(1), {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-100_000)
    })
  }
  const start = performance.now()
  const timer = setTimeout(() => child.kill(), LIMIT_MS)
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  clearTimeout(timer)
  const wallMs = performance.now() - start
  if (code !== 0)
    throw new Error(`${[command, ...args].join(' ')} in ${cwd} ended with ${code}:\n${output.slice(-3000)}`)
  if (!timed) return { wallMs, cpuMs: null, rssMb: null, output }
  const [user, system, kilobytes] = readFileSync(report, 'utf8').trim().split('\n').at(-1).split(' ').map(Number)
  await rm(report)
  return { wallMs, cpuMs: (user + system) * 1000, rssMb: kilobytes / 1024, output }
}
