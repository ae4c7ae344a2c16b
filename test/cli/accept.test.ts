import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../harness/run-cli.ts'
import {
  copyProject,
  newestRun,
  project,
  runKeptVitest as runVitest,
  type VitestResult,
} from '../harness/run-vitest.ts'
import { resealed } from './resealed.ts'
import { runHere } from './run-here.ts'

const PATH = '__baselines__/accepted.jsonl'
const run = (root: string, env: Record<string, string> = {}): Promise<VitestResult> =>
  runVitest(root, ['accepted.eval.ts'], env)

describe('from a first run to a gate', () => {
  it('record, accept, change the prompt: red only where a loss is shown', async () => {
    const root = await project('gates')
    const missing = await run(root, { COMPARE: 'own' })
    expect(missing.code).toBe(1)
    expect(missing.output).toContain(
      `campaign "accepted" (accepted.eval.ts:9): its gate compares with accepted records, and ${PATH} is not there: run it once with EVALS_BASELINE=new, then npx vitest-campaign accept accepted, and commit the file`,
    )
    expect((await newestRun(root)).records).toEqual([])

    const first = await run(root, { COMPARE: 'own', EVALS_BASELINE: 'new' })
    expect(first.code, first.output).toBe(0)
    expect(first.output).toContain('nothing is compared: concise has no accepted records yet')
    const accepted = await runCli(root, ['accept', 'accepted'])
    expect(accepted).toMatchObject({ code: 0, stderr: '' })
    expect(accepted.stdout).toContain(`accepted 24 records of run `)
    expect(accepted.stdout).toContain(PATH)
    const text = await readFile(join(root, PATH), 'utf8')
    expect((await runCli(root, ['accept', 'accepted'])).code).toBe(0)
    expect(await readFile(join(root, PATH), 'utf8'), 'the same run, the same bytes').toBe(text)

    const same = await run(root, { COMPARE: 'own' })
    expect(same.code, same.output).toBe(0)
    expect(same.output).toContain('PASS  ')

    const worse = await run(root, { COMPARE: 'own', ANSWER: 'no' })
    expect(worse.code).toBe(1)
    expect(worse.output).toMatch(/FAIL {2}current is worse than current \(accepted\)/)
    const { dir, reports } = await newestRun(root)
    const report = reports.accepted
    expect(report?.candidates.map(({ id, comparator, outcome }) => [id, comparator, outcome])).toEqual([
      ['concise', 'concise (accepted)', 'hold'],
      ['current', 'current (accepted)', 'regress'],
    ])
    expect(report?.coverage.planned).toBe(24)
    expect(report?.design.accepted).toMatchObject({ without: [], arms: [{ paired: 12 }, { paired: 12 }] })
    expect(await runHere(root, ['gate'])).toMatchObject({ code: 1 })
    const refused = await runHere(root, ['accept', 'accepted'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('cannot be accepted: the gate is red (regress, rule 3): current is worse')

    // The report of that run stays what it was, whatever becomes of the committed file.
    const written = await readFile(join(dir, 'reports/accepted.json'), 'utf8')
    await rm(join(root, PATH))
    expect((await runHere(root, ['report'])).code).toBe(0)
    expect(await readFile(join(dir, 'reports/accepted.json'), 'utf8')).toBe(written)
    await appendFile(join(dir, 'accepted/accepted.jsonl'), '\n')
    expect((await runHere(root, ['gate'])).code).toBe(2)
  })
})

describe('accepted records', () => {
  let root = ''
  let text = ''
  let lines: string[] = []
  beforeAll(async () => {
    root = await copyProject('gates')
    const { code, output } = await run(root)
    expect(code, output).toBe(0)
    expect(await runHere(root, ['accept', 'accepted'])).toMatchObject({ code: 0 })
    text = await readFile(join(root, PATH), 'utf8')
    lines = text.split(/(?<=\n)/)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))
  const restore = (): Promise<void> => writeFile(join(root, PATH), text)

  it('tell what they are of', async () => {
    const { header, schema } = JSON.parse(lines[0] ?? '')
    expect(schema).toBe('vitest-campaign/accepted@1')
    expect(header).toMatchObject({ campaignId: 'accepted', file: 'accepted.eval.ts', primary: 'right', rows: 24 })
    expect(header.variants.map(({ id }: { id: string }) => id)).toEqual(['concise', 'current'])
    expect(header.measured.from <= header.measured.to).toBe(true)
    expect(lines).toHaveLength(25)
  })

  it('compare all variants with one', async () => {
    await restore()
    const { code, output } = await run(root, { COMPARE: 'one', ANSWER: 'no' })
    expect(code).toBe(1)
    expect(output).toContain('current is worse than current (accepted)')
    const { reports } = await newestRun(root)
    expect(reports.accepted?.candidates.map(({ comparator }) => comparator)).toEqual([
      'current (accepted)',
      'current (accepted)',
    ])
  })

  it('lose the pairs of scenarios that changed, which are named; accepting the run mends it', async () => {
    await restore()
    const { code, output } = await run(root, { COMPARE: 'own', CHANGED: 's02,s03', SCENARIOS: '13' })
    expect(code, output).toBe(1)
    expect(output).toContain('accept a run with the changed scenarios')
    const { reports } = await newestRun(root)
    const arm = reports.accepted?.design.accepted?.arms[0]
    expect(arm).toMatchObject({
      paired: 10,
      mismatches: [
        { code: 'no_row', count: 1, example: 's13' },
        { code: 'scenario_changed', count: 2, example: 's02' },
      ],
    })
    expect(reports.accepted?.warnings.map(({ text }) => text)).toContain(
      'current (accepted): 1 cell not among the accepted rows (s13), 2 cells of a scenario that has changed since (s02)',
    )
    expect(await runHere(root, ['accept', 'accepted'])).toMatchObject({ code: 0 })
    expect((await run(root, { COMPARE: 'own', CHANGED: 's02,s03', SCENARIOS: '13' })).code).toBe(0)
  })

  it.each<[string, Record<string, string>, string]>([
    ['other scorers', { SCORER: 'b' }, 'were scored by other scorers than the campaign has now'],
    ['no such variant', { COMPARE: 'gone' }, 'has no accepted records of variant "gone": it has concise, current'],
    [
      'a line edited by hand',
      { EDIT: '1' },
      `${PATH}:2: this is no line of accepted records: its checksum does not match`,
    ],
    ['a wrong switch', { EVALS_BASELINE: 'old' }, 'EVALS_BASELINE="old" is unknown'],
  ])('stop a run before anything is spent: %s', async (_, env, message) => {
    await restore()
    if ('EDIT' in env) await writeFile(join(root, PATH), text.replace('"score":1,', '"score":0,'))
    const { code, output } = await run(root, { COMPARE: 'own', ...env })
    expect(code).toBe(1)
    expect(output).toContain(message)
    expect((await newestRun(root)).records).toEqual([])
    expect((await runHere(root, ['gate'])).code).toBe(2)
  })

  it('are refused for a part of a campaign, an unknown one, and a run without its end', async () => {
    await restore()
    await runVitest(root, ['accepted.eval.ts', '-t', 's01'])
    expect((await runHere(root, ['accept', 'accepted'])).stderr).toContain('2 of 24 cells selected')
    expect((await runHere(root, ['accept', 'acepted'])).stderr).toContain('did you mean "accepted"?')
    expect((await runHere(root, ['accept'])).stderr).toContain('<campaign> is missing')
    await run(root)
    const { dir } = await newestRun(root)
    const journal = await readFile(join(dir, 'journal.jsonl'), 'utf8')
    const kept = journal.split(/(?<=\n)/).slice(0, -4)
    await writeFile(join(dir, 'journal.jsonl'), kept.join(''))
    expect((await runHere(root, ['accept', 'accepted'])).stderr).toContain('the run did not reach its end')
    expect(await readFile(join(root, PATH), 'utf8')).toBe(text)
  })

  it('belong to one campaign, and are written through no link', async () => {
    await restore()
    await run(root)
    const other = text.replaceAll('accepted.eval.ts', 'release.eval.ts')
    await writeFile(join(root, PATH), resealed(other))
    expect((await runHere(root, ['accept', 'accepted'])).stderr).toContain(
      'holds the accepted records of campaign "accepted" in release.eval.ts, and two campaigns cannot share them',
    )
    await rm(join(root, '__baselines__'), { recursive: true })
    await mkdir(join(root, 'outside'))
    await symlink(join(root, 'outside'), join(root, '__baselines__'))
    const { code, stderr } = await runHere(root, ['accept', 'accepted'])
    expect(code).toBe(2)
    expect(stderr).toContain('__baselines__ is a symbolic link')
  })
})
