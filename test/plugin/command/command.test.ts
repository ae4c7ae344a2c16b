import { AsyncLocalStorage } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ScoreContext } from '../../../src/core/campaign/definition.ts'
import { createRedactor } from '../../../src/core/traffic/redact.ts'
import { systemClock } from '../../../src/plugin/replay/clock.ts'
import { setBridge, type WorkerBridge } from '../../../src/plugin/worker/bridge.ts'
import { type CommandOptions, command } from '../../../src/plugin/worker/command/command.ts'

const scenario = { id: 'add', expected: 3 }
type Scenario = typeof scenario

/** A project with a run; the runs of commands are counted in a file. */
function workshop() {
  const root = mkdtempSync(join(tmpdir(), 'vitest-campaign-command-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const runDir = join(root, '.evals/run')
  mkdirSync(runDir, { recursive: true })
  writeFileSync(join(root, '.gitignore'), '.evals\ncount\n')
  const count = join(root, 'count')
  const node = (script: string): readonly string[] => [
    process.execPath,
    '-e',
    `require('fs').appendFileSync(${JSON.stringify(count)}, '.');${script}`,
  ]
  return {
    root,
    runDir,
    node,
    runs: () => (existsSync(count) ? readFileSync(count, 'utf8').length : 0),
    checkpoints: () => {
      const folder = join(runDir, 'commands')
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
    },
    async score(options: CommandOptions<Scenario, unknown>, output: unknown = 'code', signal?: AbortSignal) {
      setBridge({
        settings: { root, runDir },
        scopes: new AsyncLocalStorage(),
        redactor: createRedactor({ env: { SERVICE_TOKEN: 'a-value-nobody-may-see' }, rules: [], pii: false }),
        clock: systemClock,
      } as unknown as WorkerBridge)
      const context = { output, scenario, seed: 0, cellId: 'c0ffee', variant: { id: 'v' }, fetch }
      return command<Scenario, unknown>(options).score({
        ...context,
        signal: signal ?? new AbortController().signal,
      } as ScoreContext<unknown, Scenario, unknown>)
    },
  }
}

describe('the score of a command', () => {
  test('is whether it exits with 0; what it said last is the reason', async () => {
    const { score, node } = workshop()
    expect(await score({ argv: node('') })).toBe(true)
    const said = await score({
      argv: node("console.log('3 passed');console.error('1 failed\\n::error::x');process.exit(3)"),
    })
    expect(said).toEqual({ value: false, rationale: 'exit code 3:\n3 passed\n1 failed\n\\::error::x' })
  })

  test('is read from its output where the scorer says how', async () => {
    const { score, node } = workshop()
    const parse = ({ stdout, exitCode }: { stdout: string; exitCode: number }) => Number(stdout) / 10 + exitCode
    expect(await score({ argv: node('console.log(4)'), parse })).toBe(0.4)
  })

  test('may depend on what the subject made: files of its own, standard input, arguments', async () => {
    const { score, runDir } = workshop()
    const options: CommandOptions<Scenario, unknown> = {
      argv: ({ scenario: { expected } }) => [process.execPath, 'check/run.cjs', String(expected)],
      files: ({ output }) => ({
        'add.cjs': String(output),
        'check/run.cjs':
          "process.stdin.on('data', (n) => process.exit(require('../add.cjs')(1, Number(n)) === Number(process.argv[2]) ? 0 : 1))",
      }),
      stdin: () => '2',
    }
    expect(await score(options, 'module.exports = (a, b) => a + b')).toBe(true)
    expect(await score(options, 'module.exports = (a, b) => a * b')).toMatchObject({ value: false })
    expect(readdirSync(join(runDir, 'scratch'))).toEqual([])
  })

  test('scenario 39: is unknown where it does not end, unless that is a failure', async () => {
    const { score, node, checkpoints } = workshop()
    const stuck = { argv: node("console.log('at 7 of 9');setInterval(() => {}, 100)"), timeout: 1_000 }
    await expect(score(stuck)).rejects.toThrow(/did not end in time and was stopped:\nat 7 of 9/)
    expect(await score({ ...stuck, onTimeout: 'fail' })).toMatchObject({ value: false })
    expect(checkpoints()).toEqual([])
  })

  test('is unknown where it cannot be started', async () => {
    const { score, root } = workshop()
    await expect(score({ argv: ['no-such-program-here'] })).rejects.toThrow(/could not be started: .*ENOENT/)
    await expect(score({ argv: [join(root, '.gitignore')] })).rejects.toThrow(/could not be started: .*EACCES/)
    await expect(score({ argv: ['true', 'a\0b'] })).rejects.toThrow(/could not be started/)
  })

  test('scenario 38: is that of a second run where something killed the first; killed twice it is unknown', async () => {
    const { score, node, root, runs } = workshop()
    const once = node(
      `const f=${JSON.stringify(join(root, 'killed'))};if(!require('fs').existsSync(f)){require('fs').writeFileSync(f,'');process.kill(process.pid,'SIGKILL')}`,
    )
    expect(await score({ argv: once })).toBe(true)
    expect(runs()).toBe(2)
    await expect(score({ argv: node("process.kill(process.pid,'SIGKILL')") })).rejects.toThrow(
      'killed by SIGKILL, twice',
    )
    expect(runs()).toBe(4)
  })

  test('scenario 52: is not waited for when its cell ends; what it started ends with it, though it ignores TERM', async () => {
    const { score, node, root } = workshop()
    const pids = join(root, 'pids')
    const child = `require('child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},50)'], {stdio:'inherit'})`
    const argv = node(
      `const c=${child};process.on('SIGTERM',()=>process.exit(0));require('fs').writeFileSync(${JSON.stringify(pids)},String(c.pid));setInterval(()=>{},50)`,
    )
    const controller = new AbortController()
    const scored = score({ argv }, 'code', controller.signal)
    await vi.waitUntil(() => existsSync(pids) && readFileSync(pids, 'utf8') !== '', { timeout: 60_000 })
    controller.abort()
    await expect(scored).rejects.toThrow('was stopped with its cell')
    const alive = () => {
      try {
        return !/\) Z /.test(readFileSync(`/proc/${readFileSync(pids, 'utf8')}/stat`, 'utf8'))
      } catch {
        return false
      }
    }
    await vi.waitUntil(() => !alive(), { timeout: 60_000 })
  })

  test('scenario 42: stands in a file of its own, under one number, from before its start until after its end', async () => {
    const { score, node, runDir } = workshop()
    const running = join(runDir, 'running')
    const note = `require('fs').readdirSync(${JSON.stringify(running)}).map((n)=>[n,JSON.parse(require('fs').readFileSync(${JSON.stringify(`${running}/`)}+n,'utf8'))])`
    // The file has the number a moment after the start.
    const argv = node(
      `const f=()=>{const [[n,r]]=${note};if(r.pid!==process.pid)return setTimeout(f,5);console.log(JSON.stringify([n,r]));setTimeout(()=>{const [[m,q]]=${note};console.log(JSON.stringify([m,q]))},20)};f()`,
    )
    let said = ''
    const parse = ({ stdout }: { stdout: string }) => {
      said = stdout
      return true
    }
    expect(await score({ argv, parse })).toBe(true)
    const [first, last] = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, { cellId: string; program: string; startToken: string | null }])
    expect(last).toEqual(first)
    expect(first?.[1]).toMatchObject({ cellId: 'c0ffee', program: process.execPath })
    if (process.platform === 'linux') expect(first?.[1].startToken).toMatch(/^\d+$/)
    expect(readdirSync(running)).toEqual([])
    // Without its run there is none to stand in, and a folder that was deleted is not made anew.
    rmSync(runDir, { recursive: true })
    await expect(score({ argv: node('') })).rejects.toThrow('ENOENT')
    await expect(score({ argv: node(''), files: {} })).rejects.toThrow('ENOENT')
    expect(existsSync(runDir)).toBe(false)
    mkdirSync(runDir)
    await score({ argv: node('') })
    // One that cannot be started, and one that is stopped, leave none either.
    await expect(score({ argv: ['no-such-program-here'] })).rejects.toThrow('could not be started')
    await expect(score({ argv: ['true', 'a\0b'] })).rejects.toThrow('could not be started')
    await expect(score({ argv: node('setInterval(()=>{},100)'), timeout: 50 })).rejects.toThrow('did not end in time')
    expect(readdirSync(running)).toEqual([])
  })

  test('does not wait for a descendant that keeps the pipes', async () => {
    const { score, node } = workshop()
    const left = node(
      "require('child_process').spawn(process.execPath, ['-e', 'setTimeout(()=>{},4000)'], {stdio:'inherit',detached:true}).unref();console.log('done');process.exit(5)",
    )
    expect(await score({ argv: left })).toEqual({ value: false, rationale: 'exit code 5:\ndone' })
  })
})

describe('what a command sees and says', () => {
  test('scenario 40: is the environment that was declared, no more', async () => {
    const { score } = workshop()
    vi.stubEnv('MY_KEY_OF_A_PROVIDER', 'sk-secret')
    vi.stubEnv('MY_FLAG', 'on')
    const print = [process.execPath, '-e', 'console.log(JSON.stringify(process.env))']
    let env: Record<string, string> = {}
    const parse = ({ stdout }: { stdout: string }) => {
      env = JSON.parse(stdout)
      return true
    }
    await score({ argv: print, parse, env: { MY_FLAG: true, OTHER: 'x', ABSENT: true } })
    expect(env).toMatchObject({ MY_FLAG: 'on', OTHER: 'x', PATH: process.env.PATH })
    for (const name of ['MY_KEY_OF_A_PROVIDER', 'ABSENT', 'VITEST', 'NODE_ENV']) expect(env).not.toHaveProperty(name)
    vi.unstubAllEnvs()
  })

  test('is kept as its end alone, whole characters, without secrets', async () => {
    const { score, node, checkpoints } = workshop()
    let kept = ''
    const parse = ({ stdout }: { stdout: string }) => {
      kept = stdout
      return true
    }
    const argv = node("process.stdout.write('é'.repeat(40000) + '!a-value-nobody-may-see')")
    await score({ argv, parse, files: {} })
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(16 * 1024 + 20)
    expect(kept).toMatch(/^é+!\[redacted:/)
    expect(checkpoints()).toHaveLength(1)
    expect(readFileSync(checkpoints()[0] ?? '', 'utf8')).not.toContain('a-value-nobody-may-see')
  })

  test.each([
    ['cwd', { cwd: '..' }, /cwd "\.\." leaves the project/],
    ['an absolute cwd', { cwd: '/tmp' }, /leaves the project/],
    ['a cwd that is none', { cwd: 'nowhere' }, /is no folder/],
    ['a link', { cwd: 'link' }, /out of the project by a symbolic link/],
    ['a file', { files: { '../x': '' } }, /"\.\.\/x", which is no path below/],
    ['an absolute file', { files: { '/tmp/x': '' } }, /no path below/],
    ['the folder itself as file', { files: { '.': '' } }, /no path below/],
  ])('scenario 41: cannot lead out by %s', async (_, options, message) => {
    const { score, node, root, runs } = workshop()
    symlinkSync(tmpdir(), join(root, 'link'))
    await expect(score({ argv: node(''), ...options })).rejects.toThrow(message)
    expect(runs()).toBe(0)
  })
})

describe('a finished command', () => {
  test('scenarios 34 and 35: is served while all that decides it is the same, and runs again where a part is not', async () => {
    const { score, node, root, runs } = workshop()
    writeFileSync(join(root, 'a.txt'), '1')
    writeFileSync(join(root, 'b.txt'), '1')
    const tool = join(root, 'version.txt')
    writeFileSync(tool, '5.9')
    const options = {
      argv: node('process.exit(1)'),
      inputs: ['a.txt'],
      env: { MODE: 'fast' },
      version: [process.execPath, '-e', `console.log(require('fs').readFileSync(${JSON.stringify(tool)}, 'utf8'))`],
    }
    const first = await score(options)
    expect(await score(options)).toEqual(first)
    expect(runs()).toBe(1)
    writeFileSync(join(root, 'b.txt'), '2')
    await score(options)
    expect(runs()).toBe(1)
    writeFileSync(join(root, 'a.txt'), '2')
    await score(options)
    expect(runs()).toBe(2)
    await score({ ...options, env: { MODE: 'slow' } })
    expect(runs()).toBe(3)
    await score({ ...options, stdin: 'x' })
    expect(runs()).toBe(4)
    await score({ ...options, argv: [...options.argv, 'x'] })
    expect(runs()).toBe(5)
    writeFileSync(tool, '6.0')
    await score(options)
    expect(runs()).toBe(6)
    rmSync(join(root, 'a.txt'))
    await score(options)
    expect(runs()).toBe(7)
  })

  test('scenarios 35 and 37: without declared inputs depends on the whole work tree; without one it is never served', async () => {
    const { score, node, root, runs } = workshop()
    const options = { argv: node('') }
    await score(options)
    await score(options)
    expect(runs(), 'outside of git nothing says that nothing changed').toBe(2)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: root,
        stdio: 'ignore',
      })
    git('init')
    await score(options)
    await score(options)
    expect(runs()).toBe(3)
    git('add', '.')
    git('commit', '-m', 'first')
    await score(options)
    expect(runs(), 'a commit alone changes no content').toBe(3)
    writeFileSync(join(root, 'new.txt'), 'untracked')
    await score(options)
    expect(runs()).toBe(4)
    writeFileSync(join(root, '.evals/ignored.txt'), 'ignored')
    await score(options)
    expect(runs()).toBe(4)
    git('add', '.')
    git('commit', '-m', 'second')
    git('checkout', 'HEAD~1')
    await score(options)
    expect(runs(), 'clean checkouts of different commits differ').toBe(4)
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })).toBe('')
  })

  test.each<[string, (text: string) => string]>([
    ['torn', (text) => text.slice(0, -30)],
    ['oversized', (text) => text + ' '.repeat(300_000)],
    ['extended', (text) => text.replace('"schema"', '"more":1,"schema"')],
    ['of another command', (text) => text.replace(/"identity":"sha256-jcs:./, '"identity":"sha256-jcs:z')],
    ['of another schema', (text) => text.replace('command@1', 'command@2')],
    ['empty', () => ''],
  ])('scenario 36: that is %s is no result: the command runs again', async (_, damage) => {
    const { score, node, runs, checkpoints } = workshop()
    const options = { argv: node(''), files: { a: '' } }
    await score(options)
    const [path = ''] = checkpoints()
    writeFileSync(path, damage(readFileSync(path, 'utf8')))
    expect(await score(options)).toBe(true)
    expect(runs()).toBe(2)
    expect(await score(options)).toBe(true)
    expect(runs()).toBe(2)
  })

  test('is not read through a link', async () => {
    const { score, node, runs, checkpoints, root } = workshop()
    const options = { argv: node(''), files: { a: '' } }
    await score(options)
    const [path = ''] = checkpoints()
    const elsewhere = join(root, 'elsewhere.json')
    writeFileSync(elsewhere, readFileSync(path))
    rmSync(path)
    symlinkSync(elsewhere, path)
    await score(options)
    expect(runs()).toBe(2)
  })
})

test.each<[string, object, RegExp]>([
  ['no program', {}, /argv must be a list of texts/],
  ['a shell line', { argv: 'npm test' }, /argv must be a list/],
  ['a program that is no text', { argv: [1] }, /argv must be a list/],
  ['an unknown option', { argv: ['x'], shell: true }, /unknown option "shell"; known are argv,/],
  ['no end', { argv: ['x'], timeout: Infinity }, /timeout must be milliseconds/],
  ['a negative timeout', { argv: ['x'], timeout: -1 }, /timeout must be/],
  ['a timeout that is no number', { argv: ['x'], timeout: Number.NaN }, /timeout must be/],
  ['a variable that is no name', { argv: ['x'], env: { 'A B': 'x' } }, /env has "A B"/],
  ['a variable that is no text', { argv: ['x'], env: { A: 1 } }, /env\.A must be text/],
  ['files and cwd', { argv: ['x'], files: {}, cwd: '.' }, /`files` and `cwd`/],
  ['files and inputs', { argv: ['x'], files: {}, inputs: ['a'] }, /`files` and `inputs`/],
  ['no inputs', { argv: ['x'], inputs: [] }, /inputs must be a list/],
  ['another onTimeout', { argv: ['x'], onTimeout: 'skip' }, /onTimeout must be/],
])('command() with %s is refused', (_, options, message) => {
  expect(() => command(options as never)).toThrow(message)
})
