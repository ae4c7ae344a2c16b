import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimFolder, FolderBusyError, type Owner, ownerState } from '../../../src/plugin/pool/owner.ts'
import {
  livenessOf,
  type Processes,
  type ProcessIdentity,
  systemProcesses,
  thisProcess,
} from '../../../src/plugin/process-identity.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'owner-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const now = () => new Date('2026-01-02T03:04:05.000Z')
const here: ProcessIdentity = { pid: 100, startToken: '7', host: 'one', bootId: 'boot', pidNamespace: 'ns' }

/** A machine on which these processes run, each with its start token. */
const running = (...processes: readonly ProcessIdentity[]): Processes => ({
  signal: (pid) => (processes.some((each) => each.pid === pid) ? 'there' : 'gone'),
  startToken: (pid) => processes.find((each) => each.pid === pid)?.startToken ?? null,
})
const claim = (processes = running(here), as = here) => claimFolder({ dir, here: as, now, processes })
const busy = async (claiming: Promise<unknown>): Promise<FolderBusyError> => {
  const error = await claiming.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(FolderBusyError)
  return error as FolderBusyError
}

describe('scenario 49: the owner of a run folder', () => {
  test('a second claim while the first owner lives is refused at once', async () => {
    await claim()
    const other = { ...here, pid: 200 }
    const error = await busy(claim(running(here, other), other))
    expect(error.message).toBe(`${dir} belongs to process 100, which is running`)
    // In one process too: two runs of one Vitest are two writers.
    await busy(claim())
  })

  test('a folder that was given back is free, and its next owner has the next number', async () => {
    const first = await claim()
    expect(first.fence).toBe(1)
    await first.release()
    await first.release()
    expect(() => first.assert()).toThrow('was given back already')
    const second = await claim()
    expect(second.fence).toBe(2)
    second.assert()
  })

  test('a dead owner is taken over, and can write no more should it come back', async () => {
    const first = await claim()
    first.assert()
    const second = await claim(running(), { ...here, pid: 200 })
    expect(second.fence).toBe(2)
    second.assert()
    expect(() => first.assert()).toThrow(`${dir} was taken over by another run (see owner.2.json there)`)
    // What is not its own any more it leaves.
    await first.release()
    expect((await ownerState({ dir, here, now, processes: running({ ...here, pid: 200 }) })).held).toBe('alive')
  })

  test('a number that was given to another process is no owner', async () => {
    await claim()
    const recycled = { ...here, startToken: '8' }
    expect((await claim(running(recycled), { ...here, pid: 200 })).fence).toBe(2)
  })

  test('an owner of another machine is left alone, and a reboot of this one is a death', async () => {
    await claim()
    const elsewhere = { ...here, host: 'two', bootId: 'other', pid: 200 }
    const error = await busy(claim(running(elsewhere), elsewhere))
    expect(error.message).toContain('belongs to process 100 on one, of which nothing can be said from here')
    expect(error.message).toContain('delete owner.1.json')
    const rebooted = { ...here, bootId: 'later' }
    expect((await claim(running(rebooted), rebooted)).fence).toBe(2)
  })

  test('another container of the same host is another machine', async () => {
    await claim()
    const container = { ...here, pidNamespace: 'other', host: 'two' }
    await busy(claim(running(container), container))
  })

  test('a file that somebody else wrote over it is not the owner’s any more', async () => {
    const first = await claim()
    const path = join(dir, 'owner.1.json')
    const foreign = `${JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as Owner), nonce: 'x' })}\n`
    await rm(path)
    await writeFile(path, foreign)
    expect(() => first.assert()).toThrow(/is not the file that this run wrote|is gone/)
    await first.release()
    expect(await readFile(path, 'utf8')).toBe(foreign)
  })

  test.each([
    ['a fresh folder', false],
    ['a dead owner', true],
  ])('of many that want %s at once exactly one gets it', async (_, stale) => {
    for (let round = 0; round < 30; round++) {
      await rm(dir, { recursive: true })
      dir = await mkdtemp(join(tmpdir(), 'owner-'))
      if (stale) await claim(running(), { ...here, pid: 9 })
      const claimants = Array.from({ length: 8 }, (_each, i) => ({ ...here, pid: 200 + i }))
      const outcomes = await Promise.allSettled(claimants.map((each) => claim(running(...claimants), each)))
      const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(won).toHaveLength(1)
      expect(won[0]?.fence).toBe(stale ? 2 : 1)
      won[0]?.assert()
      // Nothing is left lying about.
      expect((await readdir(dir)).filter((name) => name.endsWith('.tmp'))).toEqual([])
    }
  })

  test('what is no owner file is nobody’s', async () => {
    await writeFile(join(dir, 'owner.1.json'), '{"schema":"vitest-campaign/ow')
    expect((await claim()).fence).toBe(2)
  })

  test('a deleted folder is noticed', async () => {
    const first = await claim()
    await rm(dir, { recursive: true })
    expect(() => first.assert()).toThrow(`${dir} is gone: it was deleted while the run went on`)
  })
})

test('this process is alive, and one that was killed is dead, waited for or not', async () => {
  const self = thisProcess()
  expect(livenessOf(self, self)).toBe('alive')
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const other = { ...self, pid: child.pid ?? 0, startToken: systemProcesses.startToken(child.pid ?? 0) }
  expect(livenessOf(other, self)).toBe('alive')
  const gone = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGKILL')
  await gone
  expect(livenessOf(other, self)).toBe('dead')
  const zombie: Processes = { signal: () => 'there', startToken: () => 'over' }
  expect(livenessOf(other, self, zombie)).toBe('dead')
  // Of another user: it cannot be signalled, and it is there.
  expect(livenessOf(other, self, { signal: () => 'denied', startToken: () => other.startToken })).toBe('alive')
})
