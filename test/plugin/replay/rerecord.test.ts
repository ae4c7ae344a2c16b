import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { completion, project, serve } from './harness.ts'

const coordinates = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }

test('recording the same again changes no byte; another answer does', async () => {
  let says = 'hi'
  let calls = 0
  const { url } = await serve((_, response) => {
    // Another date, another time, another cut: nothing of what was said.
    response.setHeader('date', new Date(1e12 * ++calls).toUTCString())
    const text = JSON.stringify(completion(says))
    response.write(text.slice(0, calls))
    setTimeout(() => response.end(text.slice(calls)), calls * 5)
  })
  const { start, evalFile } = project()
  const path = recordingPath(evalFile, coordinates)
  const run = start('record')
  const record = () => run.cell(() => fetch(url).then((response) => response.text()), { save: true })
  await record()
  const first = { text: readFileSync(path, 'utf8'), inode: statSync(path).ino }
  await record()
  expect({ text: readFileSync(path, 'utf8'), inode: statSync(path).ino }).toEqual(first)
  says = 'ho'
  await record()
  expect(readFileSync(path, 'utf8')).toContain('"ho"')
})
