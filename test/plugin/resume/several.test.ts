import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CampaignPlan } from '../../../src/core/campaign/plan.ts'
import { Run } from '../../../src/plugin/pool/run.ts'
import { planOf } from '../../core/journal/samples.ts'
import { journalOf } from './accounting.ts'
import { contextOf } from './driven.ts'

const planned = (plan: CampaignPlan) => ({ plan, selection: 'all', skipped: false }) as const
const one = planOf('one', ['a'], ['s0', 's1'], 1)
const two = planOf('two', ['a'], ['s0', 's1'], 1)
const three = planOf('three', ['a'], ['s0', 's1'], 1)

test('all campaigns of a run are gone on with, of one file and of several at the same time, and its journal stays whole', async () => {
  const root = await mkdtemp(join(tmpdir(), 'several-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'evals'))
  const said: string[] = []
  const through = async () => {
    const run = await Run.open(contextOf(root, null, (line) => said.push(line)))
    // Nothing of them runs: every run leaves all of it to the next one.
    await Promise.all([
      run.plan({ file: one.file, campaigns: [planned(one), planned(two)] }, 1),
      run.plan({ file: three.file, campaigns: [planned(three)] }, 2),
    ])
    await run.finish(true)
    return run.folder.dir
  }
  for (let runs = 0, before: string | null = null; runs < 3; runs++) {
    said.length = 0
    const dir = await through()
    if (before !== null) {
      const goesOn = said.filter((line) => line.includes(`goes on from run ${basename(before ?? '')}`))
      expect(goesOn, said.join('\n')).toHaveLength(3)
      const fenced = (await journalOf(before)).flatMap((entry) => (entry.kind === 'fenced' ? [entry.campaignId] : []))
      expect(fenced.toSorted()).toEqual(['one', 'three', 'two'])
    }
    before = dir
  }
})
