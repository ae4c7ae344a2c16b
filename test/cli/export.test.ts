import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../harness/run-cli.ts'
import { copyProject, newestRun, runVitest } from '../harness/run-vitest.ts'

describe('export', () => {
  let root = ''
  beforeAll(async () => {
    root = await copyProject('outputs')
    const { code, output } = await runVitest(root, ['red.eval.ts', 'green.eval.ts'])
    expect(code, output).toBe(1)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  test('writes the records as JSON lines, campaign after campaign', async () => {
    const { records } = await newestRun(root)
    const all = await runCli(root, ['export'])
    expect(all.code, all.stderr).toBe(0)
    const lines = all.stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(records)
    // The outputs of the fixture hold commands for CI runners.
    expect(all.stdout).not.toMatch(/##\w*\[|^\s*::/m)
    const one = await runCli(root, ['export', '--campaign', 'green'])
    expect(one.stdout.trimEnd().split('\n')).toHaveLength(24)
  })

  test('writes CSV by the name of the file, readable by its owner', async () => {
    const { code, stdout, stderr } = await runCli(root, ['export', '--out', 'cells.csv'])
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain('note: 72 records written to cells.csv')
    const path = join(root, 'cells.csv')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const rows: Record<string, string>[] = parse(await readFile(path, 'utf8'), { columns: true })
    expect(rows).toHaveLength(72)
    expect(new Set(rows.map((row) => row['scores.right'] ?? ''))).toEqual(new Set(['1', '0', '']))
  })

  test('an unknown format is refused, naming those there are', async () => {
    const { code, stderr } = await runCli(root, ['export', '--format', 'xlsx'])
    expect(code).toBe(2)
    expect(stderr).toContain('"xlsx" is none of jsonl, csv')
  })
})
