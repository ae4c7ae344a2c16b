import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../harness/run-cli.ts'
import { project } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

describe('the command line', () => {
  it.each([['--help'], ['-h'], ['help']])('says what the program does: %s', async (arg) => {
    const { code, stdout, stderr } = await runHere(tmpdir(), [arg])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('usage: vitest-campaign <command>')
    expect(stdout).toMatch(/^ {2}report +rebuild/m)
  })

  it('shows the help and fails without a command', async () => {
    const { code, stdout, stderr } = await runCli(tmpdir(), [])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('usage: vitest-campaign <command>')
  })

  it('prints its version', async () => {
    expect(await runCli(tmpdir(), ['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })

  it('says what a command takes, whatever else is given', async () => {
    const { code, stdout } = await runHere(tmpdir(), ['report', 'one', 'two', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('usage: vitest-campaign report [run] [options]')
    expect(stdout).toContain('--root <folder>')
    expect(stdout).toContain('-h, --help')
  })

  it.each([
    [['reprot'], '"reprot" is no command: did you mean "report"?'],
    [['frobnicate'], '"frobnicate" is no command: the commands are report'],
    [['--root', '.'], '--root stands before the command'],
    [['report', '--verbos'], '--verbos is no option of vitest-campaign report: did you mean "--verbose"?'],
    [['report', '-x'], '-x is no option of vitest-campaign report: see vitest-campaign report --help'],
    [['report', '--__proto__'], '--__proto__ is no option of vitest-campaign report'],
    [['report', '--root'], '--root needs a value: --root <folder>'],
    [['report', '--root', '--verbose'], '--root needs a value: --root <folder>'],
    [['report', '--root='], '--root needs a value: --root <folder>'],
    [['report', '--root', '.', '--root', '..'], '--root is given twice'],
    [['report', '--verbose=yes'], '--verbose takes no value'],
    [['report', 'a', 'b'], '"b" is one argument too many: vitest-campaign report [run]'],
    [['report', '--root', 'no/such/folder'], 'is not there'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runHere(tmpdir(), args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`vitest-campaign: `)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('    at ')
  })

  it('shows the stack of an error under DEBUG', async () => {
    const { stderr } = await runHere(tmpdir(), ['nothing'], { DEBUG: '1' })
    expect(stderr).toContain('    at ')
  })
})

describe('finding a run', () => {
  it('says what to do where there is none', async () => {
    const root = await project('basic')
    const { code, stderr } = await runHere(root, ['report'])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no run in .evals: run the campaign first')
  })

  it('names what it looked for', async () => {
    const root = await project('basic')
    const { code, stderr } = await runHere(root, ['report', '20261129T000000Z-abcdef'])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no run "20261129T000000Z-abcdef"')
  })

  it.each(['../../outside', '/etc', '.', 'a b', ''])('leaves the folder for no pointer: %j', async (pointer) => {
    const root = await project('basic')
    await mkdir(join(root, '.evals'))
    await writeFile(join(root, '.evals/latest'), `${pointer}\n`)
    const { code, stderr } = await runHere(root, ['report'])
    expect(code).toBe(2)
    expect(stderr).toContain('.evals/latest names no run')
  })

  it('says that the newest run is gone', async () => {
    const root = await project('basic')
    await mkdir(join(root, '.evals'))
    await writeFile(join(root, '.evals/latest'), 'run-1\n')
    expect((await runHere(root, ['report'])).stderr).toContain('the newest run, run-1, is gone from .evals')
  })

  it('follows no symbolic link', async () => {
    const root = await project('basic')
    const real = join(root, 'elsewhere')
    await mkdir(real)
    await writeFile(join(real, 'journal.jsonl'), '')
    await mkdir(join(root, '.evals/run-2'), { recursive: true })
    await symlink(real, join(root, '.evals/run-1'))
    await symlink(join(real, 'journal.jsonl'), join(root, '.evals/run-2/journal.jsonl'))
    for (const run of ['run-1', 'run-2', '.evals/run-1']) {
      const { code, stderr } = await runHere(root, ['report', run])
      expect(code).toBe(2)
      expect(stderr).toContain('is a symbolic link, and links are not followed')
    }
  })

  it('takes no folder without a journal for a run', async () => {
    const root = await project('basic')
    await mkdir(join(root, '.evals/run-1'), { recursive: true })
    expect((await runHere(root, ['report', 'run-1'])).stderr).toContain(
      '.evals/run-1 is no run: it holds no journal.jsonl',
    )
  })
})
