import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { LABEL_SCHEMA } from '../../../src/core/report/judges/label.ts'
import { labelsPath, readLabels } from '../../../src/plugin/pool/labels.ts'

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'labels-'))
  await mkdir(join(root, 'evals/__labels__'), { recursive: true })
})
afterAll(() => rm(root, { recursive: true, force: true }))

const plan = (campaignId: string) => ({ file: 'evals/triage.eval.ts', campaignId })
const label = JSON.stringify({
  schema: LABEL_SCHEMA,
  campaignId: 'triage',
  variantId: 'v',
  scenarioId: 's',
  seed: 0,
  output: digestOf('x'),
  scorer: 'label',
  value: 1,
})

test('labels lie beside the eval file, by the name of the campaign', async () => {
  await writeFile(join(root, 'evals/__labels__/triage.jsonl'), `${label}\n`)
  expect(readLabels(root, plan('triage'))).toMatchObject({ labels: [{ scorer: 'label' }], problems: [] })
  expect(readLabels(root, plan('none'))).toEqual({ labels: [], problems: [] })
  expect(labelsPath(plan('../../x'))).toMatch(/^evals\/__labels__\/[^/]+\.jsonl$/)
})

test('a file that cannot be read says where, and no verdict is given without it', async () => {
  await writeFile(join(root, 'evals/__labels__/bad.jsonl'), `${label}\n{"seed":\n`)
  const { labels, problems } = readLabels(root, plan('bad'))
  expect(labels).toEqual([])
  expect(problems).toMatchObject([
    { code: 'labels_invalid', text: expect.stringContaining('evals/__labels__/bad.jsonl:2: is no JSON') },
  ])
})

test('a symbolic link is not followed', async () => {
  await symlink('/etc/hostname', join(root, 'evals/__labels__/link.jsonl'))
  expect(readLabels(root, plan('link')).problems[0]?.code).toBe('labels_invalid')
})
