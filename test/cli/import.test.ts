import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createReplayFetch } from '../../src/plugin/replay/replay-fetch.ts'
import { runHere } from './run-here.ts'

const cassette = `interactions:
- request: {method: POST, uri: 'https://api.example/v1/x', body: '{"a":1}', headers: {authorization: [Bearer of-the-test-0123456789]}}
  response: {status: {code: 200, message: OK}, headers: {content-type: [text/plain]}, body: {string: hello}}
version: 1
`
const CELL = ['--eval', 'a.eval.ts', '--campaign', 'triage', '--variant', 'v', '--scenario', 's']

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'campaign-import-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'a.eval.ts'), '')
  writeFileSync(join(root, 'tape.yaml'), cassette)
  return root
}

test('a cassette becomes the recording of a cell, or a file for unit tests', async () => {
  const root = folder()
  const first = await runHere(root, ['import', 'tape.yaml', ...CELL])
  const path = '__recordings__/triage/v/s/0.jsonl'
  expect(first).toEqual({ code: 0, stdout: `${path}: 1 call, 1 redacted\n`, stderr: '' })
  expect(readFileSync(join(root, path), 'utf8')).not.toContain('of-the-test')
  expect(statSync(join(root, path)).mode & 0o777).toBe(0o600)

  const again = await runHere(root, ['import', 'tape.yaml', ...CELL])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--force replaces it')])
  expect((await runHere(root, ['import', 'tape.yaml', ...CELL, '--force'])).code).toBe(0)

  expect((await runHere(root, ['import', 'tape.yaml', '--out', 'unit/tape.jsonl'])).code).toBe(0)
  const replay = createReplayFetch(join(root, 'unit/tape.jsonl'))
  const response = await replay('https://api.example/v1/x', { method: 'POST', body: '{ "a": 1 }' })
  expect(await response.text()).toBe('hello')
})

test.each([
  [['nowhere.har', ...CELL], /nowhere\.har is not there/],
  [['tape.yaml'], /--eval is missing/],
  [['tape.yaml', '--out', '../tape.jsonl'], /leads out of/],
  [['tape.yaml', '--out', 'x.jsonl', '--seed', '1', '--campaign', 'c'], /exclude each other/],
  [['tape.yaml', ...CELL, '--seed', 'x'], /--seed x is no seed/],
  [['tape.yaml', ...CELL, '--format', 'har'], /no HAR file.*nothing was written/],
  [['tape.yaml', ...CELL, '--format', 'pcap'], /--format pcap is not known/],
  [['tape.yaml', ...CELL, '--match', 'elsewhere'], /no call to import/],
  [['a.eval.ts', ...CELL], /say --format/],
  [['link.yaml', ...CELL], /symbolic link/],
  [['tape.yaml', '--out', 'linked/tape.jsonl'], /symbolic link/],
  [['binary.yaml', ...CELL], /no UTF-8/],
])('import %j is refused', async (args, message) => {
  const root = folder()
  symlinkSync(join(root, 'tape.yaml'), join(root, 'link.yaml'))
  symlinkSync(tmpdir(), join(root, 'linked'))
  writeFileSync(join(root, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0]))
  const { code, stdout, stderr } = await runHere(root, ['import', ...args])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(message)
})
