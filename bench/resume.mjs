import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { campaign } from './campaign.mjs'
import { runChild } from './child.mjs'
import { measure } from './compare.mjs'
import { VITEST } from './scratch.mjs'
import { count, micros, seconds, table, times } from './table.mjs'

/** Going on with a run that died when all of its cells were settled, against collecting its tests and nothing else. */
export async function resume({ cells, repeats }) {
  const own = await campaign({ cells, inFlight: 32, capture: 'on' })
  const runs = join(own.cwd, '.evals')
  const kept = join(own.cwd, 'unfinished')
  await own.prepare()
  await runChild(own.command, own)
  await unfinish(runs)
  await rm(kept, { recursive: true, force: true })
  await cp(runs, kept, { recursive: true })
  const prepare = async () => {
    await rm(runs, { recursive: true, force: true })
    await cp(kept, runs, { recursive: true })
  }
  const [list, afresh, goneOn] = await measure(
    [
      { ...own, name: 'list', command: [process.execPath, VITEST, 'list', '--project', 'evals'], prepare, check() {} },
      { ...own, name: 'afresh' },
      { ...own, name: 'resume', prepare, check: () => checkCarried(own, cells) },
    ],
    repeats,
  )
  const row = (name, { wallMs, cpuMs }, ratio, target) => [
    name,
    seconds(wallMs),
    ratio,
    target,
    times(cpuMs, list.cpuMs),
    micros(wallMs, cells),
  ]
  return `### Going on with a run of ${count(cells)} settled cells\n\n${table(
    ['', 'wall', 'against collecting', 'target', 'CPU', 'wall per cell'],
    [
      row('collecting (`vitest list`)', list, '', ''),
      row('going on', goneOn, times(goneOn.wallMs, list.wallMs), '≤ 3×'),
      row('running it afresh', afresh, times(afresh.wallMs, list.wallMs), ''),
    ],
  )}`
}

/** As if it had been killed before it said that it was over. */
async function unfinish(runs) {
  const id = (await readFile(join(runs, 'latest'), 'utf8')).trim()
  const journal = join(runs, id, 'journal.jsonl')
  const text = await readFile(journal, 'utf8')
  await writeFile(journal, text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1))
  await rm(join(runs, id, 'manifest.json'))
}

async function checkCarried({ cwd }, cells) {
  const id = (await readFile(join(cwd, '.evals/latest'), 'utf8')).trim()
  const records = await readFile(join(cwd, '.evals', id, 'records.jsonl'), 'utf8')
  const carried = records.split('"provenance":"carried"').length - 1
  const folders = await readdir(join(cwd, '.evals'))
  if (carried !== cells) throw new Error(`${carried} of ${cells} cells were carried over (${folders.join(', ')})`)
}
