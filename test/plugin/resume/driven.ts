import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { cellsOf } from '../../../src/core/campaign/cells.ts'
import type { CampaignPlan, PlannedCell } from '../../../src/core/campaign/plan.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import type { MicroUsd } from '../../../src/core/record/usage.ts'
import type { CallRole, Exchange } from '../../../src/core/traffic/exchange.ts'
import { encodeExchange } from '../../../src/core/traffic/format.ts'
import { encodeSent } from '../../../src/core/traffic/sent.ts'
import { settlementOf } from '../../../src/plugin/control.ts'
import { resolveOptions } from '../../../src/plugin/options.ts'
import type { Owner } from '../../../src/plugin/pool/owner.ts'
import { Run } from '../../../src/plugin/pool/run.ts'
import type { RunContext } from '../../../src/plugin/pool/run-context.ts'
import { rawCapture } from '../../../src/plugin/replay/raw.ts'
import { planOf, recordOf, someDigest } from '../../core/journal/samples.ts'

const AT = '2026-01-02T03:04:05.000Z'
/** What a call costs by the list, and what its request could have cost. */
const COST: { readonly [role in CallRole]: number } = { subject: 2, judge: 2, setup: 0 }
const BOUND = 9
const LANE = 'openai/gpt-5-mini'

/** A campaign of 12 cells; a judge scores each second of them. */
export const drivenPlan: CampaignPlan = planOf('triage', ['a', 'b'], ['s0', 's1', 's2'], 2)
export const judged = ({ position: [seed, scenario, variant] }: PlannedCell): boolean =>
  (seed + scenario + variant) % 2 === 0

/** Every call that was made, in order: what is true about money. */
export interface Ledger {
  readonly calls: { readonly cellId: string; readonly role: CallRole }[]
}

export interface Driven {
  readonly dir: string
  /** Why the campaign was refused, or null. */
  readonly refused: string | null
  readonly said: readonly string[]
  readonly records: readonly RunRecord[]
}

/** What a run of the campaign is opened with. */
export function contextOf(root: string, budget: MicroUsd | null, say: (line: string) => void): RunContext {
  return {
    root,
    projectName: 'evals',
    options: resolveOptions({ capacity: { lanes: [{ match: '*', usdPerCell: (2 * BOUND) / 1_000_000 }] } }, 'a test'),
    bail: 0,
    env: {},
    policy: { traffic: 'live', reason: 'a test' },
    modules: { root, filesOf: async () => [] },
    shard: null,
    foretell: null,
    budget,
    resume: { reconciled: false, say },
    versions: { node: '20', vitest: '4', package: '0' },
  }
}

/** Runs the campaign as a worker would, through the real main process side and the real files. */
export async function drive(root: string, ledger: Ledger, budget: MicroUsd | null = null): Promise<Driven> {
  const said: string[] = []
  await mkdir(join(root, 'evals'), { recursive: true })
  const run = await Run.open(contextOf(root, budget, (line) => said.push(line)))
  const { dir } = run.folder
  const { campaigns } = await run.plan(
    { file: drivenPlan.file, campaigns: [{ plan: drivenPlan, selection: 'all', skipped: false }] },
    1,
  )
  const [reply] = campaigns
  if (reply === undefined || reply.refused !== null) {
    await run.finish(false)
    return { dir, refused: reply?.refused ?? null, said, records: [] }
  }
  const carried = new Set(reply.carried.map(({ cellId }) => cellId))
  await Promise.all(
    cellsOf(drivenPlan)
      .filter(({ cellId }) => !carried.has(cellId))
      .map((cell) => driveCell(run, cell, reply.fingerprint, ledger)),
  )
  await run.finish(false)
  const text = await readFile(join(dir, 'records.jsonl'), 'utf8')
  const records = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as RunRecord]))
  return { dir, refused: null, said, records }
}

async function driveCell(run: Run, cell: PlannedCell, fingerprint: string, ledger: Ledger): Promise<void> {
  const { cellId, variant, scenario, seed } = cell
  const lease = await run.lease(cellId)
  // The run has settled it.
  if (!lease.granted && lease.reason === 'budget') return
  if (!lease.granted) throw new Error(`nothing stands against cell ${cellId}`)
  const { attempt, rescore } = lease
  const raw = rawCapture(run.folder.dir, cellId, attempt)
  const call = async (role: CallRole, ordinal: number): Promise<void> => {
    const { permitId, reply } = run.admission.permit(cellId, { lane: LANE, role, boundMicroUsd: BOUND })
    const permit = await reply
    if (!permit.granted) throw new Error(`nothing stands against a call of cell ${cellId}`)
    await run.admitted(cellId, attempt, LANE)
    const key = `${role} key`
    raw.mark(encodeSent({ role, key, ordinal, at: AT, boundMicroUsd: BOUND }))
    ledger.calls.push({ cellId, role })
    raw.append(`${encodeExchange(exchangeOf(role, key, ordinal))}\n`)
    await raw.flush()
    run.admission.permitDone(permitId, { result: { kind: 'answered' }, tokens: null, microUsd: COST[role] })
  }
  if (rescore === undefined) await call('subject', 0)
  if (judged(cell)) {
    if (rescore === undefined) {
      await run.subjectSettled({
        cellId,
        attempt,
        output: 'an answer',
        subject: {
          ...{ startedAt: AT, queueMs: 0, wallMs: 1, digest: someDigest, faithful: true, calls: 1 },
          ...{ metrics: {}, tags: {}, profile: null },
        },
      })
    }
    await call('judge', 0)
  }
  await raw.close()
  const usd = (COST.subject + (judged(cell) ? COST.judge : 0)) / 1_000_000
  const record = recordOf('triage', variant.id, scenario.id, seed, {
    runId: run.facts.runId,
    fingerprint: fingerprint as RunRecord['fingerprint'],
    attempts: attempt,
    provenance: rescore === undefined ? 'live' : 'carried',
    cost: {
      usd,
      provenance: 'estimated',
      subjectUsd: COST.subject / 1_000_000,
      judgeUsd: usd - COST.subject / 1_000_000,
    },
    calls: { subject: 1, judge: judged(cell) ? 1 : 0, setup: 0, retried: 0, mocked: 0 },
  })
  await run.settled({ ...settlementOf(record), usd: rescore === undefined ? usd : record.cost.judgeUsd })
}

/** A call that the list prices at 2 micro-USD. */
function exchangeOf(role: CallRole, key: string, ordinal: number): Exchange {
  const headers = [['content-type', 'application/json']] as const
  const usage = { prompt_tokens: 0, completion_tokens: 1, total_tokens: 1 }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
  return {
    role,
    key,
    ordinal,
    request: {
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      headers,
      body: { text: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'well?' }] }) },
    },
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers,
      body: { text: JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-5-mini', choices, usage }) },
      cuts: [],
      end: { kind: 'complete' },
    },
    source: 'live',
    startedAt: AT,
    ttfbMs: 1,
    totalMs: 2,
    redactions: [],
    retried: 0,
  }
}

/** What the calls of a ledger cost. */
export const charged = ({ calls }: Ledger): number => calls.reduce((sum, { role }) => sum + COST[role], 0)

/**
 * A project whose run died after so many bytes of its journal: its captures hold what was called before, and its
 * process is gone. A cell that was cut off has lost the answer of its last call where `lost` says so.
 *
 * @returns the calls that were made
 */
export async function died(
  run: Driven,
  root: string,
  bytes: number,
  lost: (cellId: string) => boolean,
): Promise<Ledger> {
  const dir = join(root, '.evals', basename(run.dir))
  await rm(root, { recursive: true, force: true })
  await mkdir(join(root, '.evals'), { recursive: true })
  await cp(run.dir, dir, { recursive: true })
  await rm(join(dir, 'manifest.json'))
  const journal = (await readFile(join(run.dir, 'journal.jsonl'))).subarray(0, bytes)
  await writeFile(join(dir, 'journal.jsonl'), journal)
  const owner = JSON.parse(await readFile(join(dir, 'owner.1.json'), 'utf8')) as Owner
  // No process has a number as large.
  await writeFile(join(dir, 'owner.1.json'), JSON.stringify({ ...owner, pid: 2 ** 30, releasedAt: null }))
  const lines = journal.toString().split('\n').slice(0, -1)
  const calls: Ledger['calls'] = []
  for (const name of existsSync(join(dir, 'raw')) ? await readdir(join(dir, 'raw')) : []) {
    const cellId = name.split('.')[0] ?? ''
    const path = join(dir, 'raw', name)
    const admissions = lines.filter((line) => line.includes(`"kind":"admitted","cellId":"${cellId}"`)).length
    const settled = lines.some((line) => line.includes('"kind":"settled"') && line.includes(`"cellId":"${cellId}"`))
    if (admissions === 0) {
      await rm(path)
      continue
    }
    const captured = (await readFile(path, 'utf8')).split('\n').slice(0, admissions * 2)
    for (const role of (['subject', 'judge'] as const).slice(0, admissions)) calls.push({ cellId, role })
    // The answers behind an output that is journalled were written before it was.
    const kept = lines.some((line) => line.includes(`"kind":"subject-settled","cellId":"${cellId}"`))
    if (!settled && lost(cellId) && (!kept || admissions === 2)) captured.pop()
    await writeFile(path, captured.map((line) => `${line}\n`).join(''))
  }
  return { calls }
}
