import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { measure } from './compare.mjs'
import { count, micros, table } from './table.mjs'

const SIDE = fileURLToPath(new URL('./traffic-side.mjs', import.meta.url))
const UPSTREAM = fileURLToPath(new URL('./traffic-upstream.mjs', import.meta.url))

/** Replay beside msw and undici's SnapshotAgent; recording beside the same calls that nobody records. */
export async function traffic({ calls, repeats }) {
  const replay = await sides(['msw', 'SnapshotAgent', 'intercepted', 'ctx.fetch'], { calls, delay: 0, repeats })
  const fast = await sides(['plain fetch', 'live, not recorded', 'recorded'], { calls, delay: 0, repeats })
  const slow = await sides(['plain fetch', 'recorded'], { calls: calls / 10, delay: 200, repeats })
  const [msw] = replay
  const [, live] = fast
  const [plain] = slow
  return [
    `### Replay, ${count(calls)} calls, 20 at once, 1 KB asked and answered\n\n${table(
      ['', 'wall per call', 'CPU per call', 'times as fast as msw (wall)', 'CPU', 'target'],
      replay.map((side) => [
        ...[side.name, micros(side.ms, calls), micros(side.cpuMs, calls)],
        ...[`${(msw.ms / side.ms).toFixed(2)}×`, `${(msw.cpuMs / side.cpuMs).toFixed(2)}×`],
        { intercepted: '≥ 1.2×', 'ctx.fetch': '≥ 3×' }[side.name] ?? '',
      ]),
    )}`,
    `### Recording, a provider that answers at once\n\n${table(
      ['', 'wall per call', 'CPU per call', 'against not recorded', 'target'],
      fast.map((side) => [
        ...[side.name, micros(side.ms, calls), micros(side.cpuMs, calls), `${(side.ms / live.ms).toFixed(2)}×`],
        side.name === 'recorded' ? '≤ 1.3×' : '',
      ]),
    )}`,
    `### Recording, a provider that takes 200 ms\n\n${table(
      ['', 'wall per call', 'against a plain fetch', 'target'],
      slow.map((side) => [
        ...[side.name, micros(side.ms, calls / 10), `${(side.ms / plain.ms).toFixed(2)}×`],
        side.name === 'recorded' ? '≤ 1.15×' : '',
      ]),
    )}`,
  ].join('\n\n')
}

/** The best of each, measured in turn; only the calls count, not the start of a process. */
async function sides(names, { calls, delay, repeats }) {
  const upstream = fork(UPSTREAM, [String(delay)])
  try {
    const url = await new Promise((resolve) => upstream.once('message', resolve))
    const best = new Map(names.map((name) => [name, { name, ms: Infinity, cpuMs: Infinity }]))
    const check = async (output) => {
      const { side, ms, cpuMs } = JSON.parse(output.trim().split('\n').at(-1))
      const known = best.get(side)
      best.set(side, { name: side, ms: Math.min(ms, known.ms), cpuMs: Math.min(cpuMs, known.cpuMs) })
    }
    await measure(
      names.map((name) => ({
        ...{ name, cells: calls, cwd: process.cwd(), check },
        command: [process.execPath, SIDE, name, String(calls), url],
      })),
      repeats,
    )
    return [...best.values()]
  } finally {
    upstream.kill()
  }
}
