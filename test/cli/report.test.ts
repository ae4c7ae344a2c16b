import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeLine } from '../../src/core/journal/line.ts'
import { readJournal } from '../../src/core/journal/read.ts'
import type { RunRecord } from '../../src/core/record/record.ts'
import { runCli } from '../harness/run-cli.ts'
import { copyProject, newestRun, project, runKeptVitest as runVitest } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

/** Everything that derives from the journal, by path in the run folder. */
async function derived(dir: string): Promise<Record<string, string>> {
  const files = ['records.jsonl', ...(await readdir(join(dir, 'reports'))).sort().map((name) => join('reports', name))]
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(join(dir, file), 'utf8')])),
  )
}

async function forget(dir: string): Promise<void> {
  await rm(join(dir, 'records.jsonl'), { force: true })
  await rm(join(dir, 'reports'), { recursive: true })
}

describe('vitest-campaign report', () => {
  it('writes the bytes that the run wrote, and prints what the run printed', async () => {
    const root = await project('gates')
    const { output, code } = await runVitest(root, ['pr.eval.ts', 'release.eval.ts'])
    expect(code, output).toBe(1)
    const { dir } = await newestRun(root)
    const written = await derived(dir)
    expect(Object.keys(written)).toHaveLength(7)
    await forget(dir)
    const { code: exit, stdout, stderr } = await runCli(root, ['report'])
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    expect(await derived(dir)).toEqual(written)
    expect(stdout.match(/ gate, rule .*, vitest-campaign gate exits /g)).toHaveLength(2)
    // The run was started elsewhere, and says so in its commands and paths.
    const lines = stdout.split('\n').filter((line) => !/^ *(report:|rerun one:)/.test(line))
    expect(lines.filter((line) => !output.includes(line))).toEqual([])
  })

  it('prints one campaign of several, and knows which there are', async () => {
    const root = await project('gates')
    await runVitest(root, ['pr.eval.ts', 'release.eval.ts'])
    const { stdout } = await runHere(root, ['report', '--campaign', 'release'])
    expect(stdout).toContain('release  release gate')
    expect(stdout).not.toContain('pr gate')
    const { code, stderr } = await runHere(root, ['report', '--campaign', 'relaese'])
    expect(code).toBe(2)
    expect(stderr).toContain('has no campaign "relaese": did you mean "release"?')
  })

  it('gives no report on a part of a campaign, and says so', async () => {
    const root = await project('gates')
    await runVitest(root, ['pr.eval.ts', '-t', 's01'])
    const { dir } = await newestRun(root)
    const written = await derived(dir)
    await forget(dir)
    const { code, stdout, stderr } = await runHere(root, ['report'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('note: campaign pr: 2 of 16 cells selected: no verdict on a part of a campaign')
    expect(await readFile(join(dir, 'records.jsonl'), 'utf8')).toBe(written['records.jsonl'])
  })
})

describe('a run that was killed', () => {
  let root = ''
  let whole = Buffer.alloc(0)
  let dir = ''
  let lines: string[] = []
  let kept = ''

  beforeAll(async () => {
    root = await copyProject('gates')
    await runVitest(root, ['pr.eval.ts'])
    dir = (await newestRun(root)).dir
    whole = await readFile(join(dir, 'journal.jsonl'))
    lines = whole.toString().split(/(?<=\n)/)
    kept = (await derived(dir))['reports/pr.json'] ?? ''
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it('is reported after every line that it may have ended with', async () => {
    const { entries } = readJournal(whole, 'journal')
    const settled = entries.flatMap((entry, i) => (entry.kind === 'settled' ? [i] : []))
    for (let count = 2; count <= lines.length; count++) {
      await forget(dir).catch(() => {})
      // A torn line behind it, as a kill leaves one.
      await writeFile(join(dir, 'journal.jsonl'), lines.slice(0, count).join('') + (lines[count] ?? '').slice(0, 20))
      const done = settled.filter((at) => at < count).length
      const { code, stderr } = await runHere(root, ['report'])
      expect({ count, code }).toEqual({ count, code: 0 })
      const report = JSON.parse(await readFile(join(dir, 'reports/pr.json'), 'utf8'))
      const records = (await readFile(join(dir, 'records.jsonl'), 'utf8')).trim().split('\n')
      expect(records).toHaveLength(16)
      expect(report.coverage.counts).toMatchObject({ scored: done, not_run: 16 - done })
      expect(report.coverage.reasons).toEqual(done === 16 ? {} : { interrupted: 16 - done })
      if (done < 16) {
        expect(report.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid', exitCode: 2 })
        expect(report.verdict.headline).toContain(`the run was interrupted: ${done} of 16 cells have a result`)
      } else expect(JSON.stringify(report, null, 2)).toBe(kept.trim())
      expect(stderr.includes('the run has no end')).toBe(count < lines.length)
      // All cells of this campaign may be there: others that the run had not come to are not.
      if (done === 16) expect((await runHere(root, ['gate'])).code).toBe(count < lines.length ? 2 : 1)
    }
  })

  it('leaves the cost of a cell that was admitted and never settled unknown', async () => {
    const { entries } = readJournal(whole, 'journal')
    const at = entries.findIndex((entry) => entry.kind === 'settled')
    const first = entries[at]
    if (first?.kind !== 'settled') throw new Error('no settled cell')
    const admitted = {
      kind: 'admitted',
      cellId: first.record.cellId,
      attempt: 1,
      lane: null,
      at: '2026-11-29T00:00:00.000Z',
    } as const
    await writeFile(join(dir, 'journal.jsonl'), lines.slice(0, at).join('') + encodeLine(at, admitted))
    expect((await runHere(root, ['report'])).code).toBe(0)
    const records = (await readFile(join(dir, 'records.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunRecord)
    const lost = records.find(({ cellId }) => cellId === first.record.cellId)
    expect(lost).toMatchObject({
      status: 'not_run',
      reason: 'interrupted',
      attempts: 1,
      cost: { usd: null, provenance: 'uncaptured' },
    })
    expect(records.filter(({ attempts }) => attempts === 0)).toHaveLength(15)
  })

  it('is named where it ended before its first line, or before its first plan', async () => {
    await writeFile(join(dir, 'journal.jsonl'), lines[0]?.slice(0, 40) ?? '')
    expect((await runHere(root, ['report'])).stderr).toContain('has no first line that says which run it is')
    await writeFile(join(dir, 'journal.jsonl'), lines[0] ?? '')
    const { code, stderr } = await runHere(root, ['gate'])
    expect(code).toBe(2)
    expect(stderr).toContain('holds no campaign: it ended before an eval file was collected. Name an earlier run')
    const refused = { kind: 'problem', campaignId: 'c', code: 'definition', text: 'c: seed: unknown option' } as const
    await appendFile(join(dir, 'journal.jsonl'), encodeLine(1, refused))
    expect((await runHere(root, ['report'])).stderr).toContain('holds no campaign: c: seed: unknown option. Name')
  })

  it('is refused with file and line where a line inside is damaged', async () => {
    const damaged = [...lines]
    damaged[3] = (lines[3] ?? '').replace('"seq":3', '"seq":9')
    await writeFile(join(dir, 'journal.jsonl'), damaged.join(''))
    for (const command of ['report', 'gate']) {
      const { code, stdout, stderr } = await runHere(root, [command])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/journal\.jsonl:4: the line is damaged: its checksum does not match/)
      expect(stderr).not.toContain('    at ')
    }
  })

  it('is invalid with two records of one cell, and with one of another campaign', async () => {
    const { entries } = readJournal(whole, 'journal')
    const settled = entries.find((entry) => entry.kind === 'settled')
    if (settled?.kind !== 'settled') throw new Error('no settled cell')
    await writeFile(join(dir, 'journal.jsonl'), whole)
    await appendFile(join(dir, 'journal.jsonl'), encodeLine(entries.length, settled))
    const twice = await runHere(root, ['gate'])
    expect(twice.code).toBe(2)
    expect(twice.stdout).toContain('records for cells that have one already')

    await writeFile(join(dir, 'journal.jsonl'), whole)
    const record = { ...settled.record, campaignId: 'another', cellId: '0123456789abcdef' }
    await appendFile(join(dir, 'journal.jsonl'), encodeLine(entries.length, { kind: 'settled', record }))
    const other = await runHere(root, ['gate'])
    expect(other.code).toBe(2)
    expect(other.stderr).toContain('1 records are of cells that no plan of campaign another has')
  })

  it('writes through no link', async () => {
    await writeFile(join(dir, 'journal.jsonl'), whole)
    await rm(join(dir, 'reports'), { recursive: true, force: true })
    const outside = join(root, 'outside')
    await mkdir(outside)
    await symlink(outside, join(dir, 'reports'))
    const { code, stderr } = await runHere(root, ['report'])
    expect(code).toBe(2)
    expect(stderr).toContain('reports is a symbolic link')
    expect(await readdir(outside)).toEqual([])
  })
})

describe('vitest-campaign gate', () => {
  let root = ''
  beforeAll(async () => {
    root = await copyProject('gates')
    await runVitest(root, ['codes.eval.ts', 'release.eval.ts'])
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each([
    ['regress', 1, 'FAIL  regress: worse is worse than current'],
    ['hold', 0, 'PASS  hold: '],
    ['few', 0, 'NO VERDICT  few: too few scenarios'],
    ['release', 3, 'FAIL  release: not shown fit for release'],
    ['collapsed', 2, 'FAIL  collapsed: no number here is a verdict'],
  ])('exits with the code of %s', async (campaign, code, line) => {
    const result = await runHere(root, ['gate', '--campaign', campaign])
    expect(result).toMatchObject({ code, stderr: '' })
    expect(result.stdout).toContain(line)
  })

  it('exits with the gravest code of a run', async () => {
    const { code, stdout } = await runCli(root, ['gate'])
    expect(code).toBe(2)
    expect(stdout.trim().split('\n')).toHaveLength(5)
  })

  it('is never green on a part of a campaign, or where a file is not in the run', async () => {
    const own = await project('gates')
    await runVitest(own, ['codes.eval.ts', '-t', 'hold current > s01 > seed 0$'])
    expect(await runHere(own, ['gate', '--campaign', 'hold'])).toMatchObject({
      code: 2,
      stdout: 'FAIL  hold: 1 of 16 cells selected: no verdict on a part of a campaign\n',
    })
    await writeFile(join(own, 'broken.eval.ts'), "throw new Error('a mistake')\n")
    await runVitest(own, ['release.eval.ts', 'broken.eval.ts'])
    const gated = await runHere(own, ['gate'])
    expect(gated.code).toBe(2)
    expect(gated.stderr).toContain('broken.eval.ts did not load')
  })
})
