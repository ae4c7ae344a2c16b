import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Body, Exchange } from '../../../src/core/traffic/exchange.ts'
import { encodeRecording } from '../../../src/core/traffic/format.ts'
import { matchKey } from '../../../src/core/traffic/match.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { newestRun, project, REPOSITORY, runVitest } from '../../harness/run-vitest.ts'

const MATRIX = join(REPOSITORY, '../shared/traffic/tool-choice-matrix.jsonl')

interface Line {
  readonly scenario: string
  readonly variant: string
  readonly exchanges: readonly {
    readonly request: { method: string; url: string; headers: Record<string, string[]>; body: Body }
    readonly response: { status: number; headers: Record<string, string[]>; body: Body }
  }[]
}

const here = existsSync(MATRIX)
if (!here) console.warn('real provider traffic is not beside this checkout: the matrix test is skipped')

describe.skipIf(!here)('a campaign over real traffic of 9 providers', () => {
  test('replays 53 cells, scores them with the tokens of the provider bodies, and is red for the cell nobody recorded', async () => {
    const lines = readFileSync(MATRIX, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
    expect(lines).toHaveLength(53)
    const root = await project('traffic-matrix')
    for (const line of lines) await writeRecording(root, line)

    const result = await runVitest(root, ['--project', 'evals'], { TRAFFIC_MATRIX: MATRIX })
    const { records, reports } = await newestRun(root)
    const byStatus = (status: string) => records.filter((record) => record.status === status)

    expect(records).toHaveLength(54)
    expect(byStatus('scored').map((record) => record.pass)).toEqual(Array(53).fill(true))
    const [missed] = byStatus('capture_error')
    expect(missed).toMatchObject({ variantId: 'huggingface', scenarioId: 'auto', score: null, pass: null })
    expect(missed?.integrity.issues.map((issue) => issue.code)).toContain('replay_miss')
    expect(result.code).toBe(1)
    expect(result.output).toContain('replay_miss')
    expect(reports.matrix?.coverage.counts).toMatchObject({ scored: 53, capture_error: 1 })

    for (const record of byStatus('scored')) {
      const line = lines.find(({ variant, scenario }) => variant === record.variantId && scenario === record.scenarioId)
      const { input, output } = record.tokens
      const name = `${record.variantId} > ${record.scenarioId}`
      expect({ name, provenance: record.provenance, wallMs: record.wallMs }).toEqual({
        name,
        provenance: 'replayed',
        wallMs: null,
      })
      expect({ name, input, output }).toEqual({ name, ...statedTokens(line) })
    }
  })
})

async function writeRecording(root: string, { variant, scenario, exchanges }: Line): Promise<void> {
  const coordinates = { campaignId: 'matrix', variantId: variant, scenarioId: scenario, seed: 0 }
  const recordedAt = '2025-11-02T10:00:00.000Z'
  const ordinals = new Map<string, number>()
  const recorded = exchanges.map(({ request, response }): Exchange => {
    const sent = { ...request, headers: pairs({ 'content-type': request.headers['content-type'] ?? [] }) }
    const { key } = matchKey(sent)
    const ordinal = ordinals.get(key) ?? 0
    ordinals.set(key, ordinal + 1)
    const {
      'content-length': _length,
      'content-encoding': _encoding,
      'transfer-encoding': _chunked,
      ...kept
    } = response.headers
    return {
      role: 'subject',
      key,
      ordinal,
      request: sent,
      outcome: {
        kind: 'response',
        status: response.status,
        statusText: '',
        headers: pairs(kept),
        body: response.body,
        cuts: [],
        end: { kind: 'complete' },
      },
      source: 'live',
      startedAt: recordedAt,
      ttfbMs: 120,
      totalMs: 450,
      redactions: [],
      retried: 0,
    }
  })
  const path = recordingPath(join(root, 'matrix.eval.ts'), coordinates)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, encodeRecording({ ...coordinates, recordedAt, exchanges: recorded }))
}

function pairs(headers: Record<string, string[]>): [string, string][] {
  return Object.entries(headers).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
}

/** Token counts as the bodies state them, by each API's own words; worked out here and not by the code under test. */
function statedTokens(line: Line | undefined): { input: number; output: number } {
  let input = 0
  let output = 0
  for (const { response } of line?.exchanges ?? []) {
    const text = response.body !== null && 'text' in response.body ? response.body.text : ''
    const body = JSON.parse(text) as Record<string, Record<string, number> & { tokens?: Record<string, number> }>
    const usage = body.usage ?? {}
    const gemini = body.usageMetadata
    if (gemini !== undefined) {
      input += gemini.promptTokenCount ?? 0
      output += (gemini.candidatesTokenCount ?? 0) + (gemini.thoughtsTokenCount ?? 0)
    } else {
      const tokens = usage.tokens ?? usage
      input += tokens.prompt_tokens ?? tokens.input_tokens ?? tokens.inputTokens ?? 0
      input += (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
      input += (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0)
      output += tokens.completion_tokens ?? tokens.output_tokens ?? tokens.outputTokens ?? 0
    }
  }
  return { input, output }
}
