import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REPOSITORY } from '../harness/run-vitest.ts'

/** The small table of `npm run simulate`: the built report builder on campaigns whose truth is known, from fixed seeds. */
function simulate(...args: string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [join(REPOSITORY, 'simulation/index.mjs'), '--only=small', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

describe('simulated campaigns', () => {
  it('the gate errs no more often than declared, and its intervals cover', async () => {
    const { code, output } = await simulate()
    expect(output).toContain('No bound is broken.')
    expect(code).toBe(0)
  })

  it('a gate at a wrong level is found, in every kind of error', async () => {
    const { code, output } = await simulate('--alpha=0.15')
    const broken = output.split('\n').filter((line) => line.startsWith('- '))
    for (const kind of [
      'identical arms, regress',
      'identical arms, ship',
      'worse by the margin, ship',
      'at the threshold',
    ]) {
      expect(
        broken.some((line) => line.startsWith(`- ${kind}`)),
        kind,
      ).toBe(true)
    }
    expect(code).toBe(1)
  })
})
