import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { writeIndex } from '../../../src/reporter/documents.ts'
import { renderIndex } from '../../../src/reporter/html/index-page.ts'
import { listRuns } from '../../../src/reporter/html/runs.ts'
import { HOLD, REGRESS } from '../reports.ts'
import { LISTED } from './listed.ts'
import { attribute, parsed } from './parsed.ts'

let evals = ''

beforeEach(async () => {
  evals = join(await mkdtemp(join(tmpdir(), 'index-')), '.evals')
  const made = evals
  onTestFinished(() => rm(join(made, '..'), { recursive: true, force: true }))
})

async function writeRun(runId: string, files: { readonly [path: string]: string }): Promise<void> {
  await mkdir(join(evals, runId, 'reports'), { recursive: true })
  for (const [path, text] of Object.entries({ 'journal.jsonl': '', ...files })) {
    await writeFile(join(evals, runId, path), text)
  }
}

test('runs are listed newest first, with their verdicts and what is there of their reports', async () => {
  const manifest = JSON.stringify(LISTED[0]?.manifest)
  await writeRun('20261101T000000Z-aaaaaa', { 'reports/triage.json': JSON.stringify(REGRESS) })
  await writeRun('20261102T000000Z-bbbbbb', {
    'manifest.json': manifest,
    'reports/triage.json': JSON.stringify(HOLD),
    'reports/triage.html': 'x',
  })
  const { runs, older } = await listRuns(evals)
  expect(older).toBe(0)
  expect(runs.map(({ runId, manifest: told }) => [runId, told?.end ?? null])).toEqual([
    ['20261102T000000Z-bbbbbb', 'finished'],
    ['20261101T000000Z-aaaaaa', null],
  ])
  expect(runs.map(({ reports }) => reports.map(({ verdict, files }) => [verdict.word, files.html]))).toEqual([
    [['PASS', true]],
    [['FAIL', false]],
  ])
})

test('what is no run, cannot be read, or is a link is left out', async () => {
  await writeRun('20261101T000000Z-aaaaaa', { 'manifest.json': '{"project":1}', 'reports/triage.json': '{"torn' })
  await mkdir(join(evals, 'notes'))
  await symlink(join(evals, '20261101T000000Z-aaaaaa'), join(evals, '20261103T000000Z-cccccc'))
  const { runs } = await listRuns(evals)
  expect(runs).toEqual([{ runId: '20261101T000000Z-aaaaaa', manifest: null, reports: [] }])
})

test('beyond the newest hundred they are counted', async () => {
  for (let i = 0; i < 103; i++) await writeRun(`20261101T000${String(i).padStart(3, '0')}Z-aaaaaa`, {})
  const { runs, older } = await listRuns(evals)
  expect([runs.length, runs[0]?.runId, older]).toEqual([100, '20261101T000102Z-aaaaaa', 3])
  expect(renderIndex(runs, older)).toContain('100 runs, newest first; 3 older ones are not listed')
})

test('the page is well-formed, links into the runs, and shows text of others as text', () => {
  const { errors, elements, text } = parsed(renderIndex(LISTED, 0))
  expect(errors).toEqual([])
  expect(elements.filter(({ tagName }) => tagName === 'img')).toEqual([])
  const links = elements.filter(({ tagName }) => tagName === 'a').flatMap((link) => attribute(link, 'href') ?? [])
  expect(links).toContain('20261129T120000Z-abc123/reports/triage.html')
  expect(
    links.filter((link) => !/^(?:#|20\d{6}T\d{6}Z-[a-f0-9]{6}\/reports\/[\w-]+\.(?:html|md|json)$)/.test(link)),
  ).toEqual([])
  expect(text.includes('</script><img src=x onerror=alert(1)>: no report')).toBe(true)
  expect(text.includes('\\u202e<b>no loss')).toBe(true)
  expect(text.includes('? no end: killed, or still running')).toBe(true)
})

test('it is written beside the runs, readable by its owner', async () => {
  await writeRun('20261101T000000Z-aaaaaa', { 'reports/triage.json': JSON.stringify(HOLD) })
  expect(await writeIndex(evals)).toBeNull()
  expect((await stat(join(evals, 'index.html'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(evals, 'index.html'), 'utf8')).toContain('✓ PASS')
  expect(await writeIndex(join(evals, 'gone'))).toMatch(/^the list of runs was not written: /)
})
