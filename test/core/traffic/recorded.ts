import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Body, Exchange, HeaderList } from '../../../src/core/traffic/exchange.ts'

/** Real provider traffic lies beside the repository where it is available; it is not part of it. */
export const recordedFolder = fileURLToPath(new URL('../../../../shared/traffic', import.meta.url))
export const hasRecordedTraffic = existsSync(recordedFolder)

export interface ExpectedUsage {
  readonly api: string
  readonly model: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

interface RecordedExchange {
  readonly request: { method: string; url: string; headers: Record<string, string[]>; body: Body }
  readonly response: { status: number; headers: Record<string, string[]>; body: Body }
  readonly expectedUsage?: ExpectedUsage | null
}

export interface Recorded {
  readonly where: string
  readonly exchange: Pick<Exchange, 'request' | 'outcome'>
  readonly expected: ExpectedUsage | null
}

const headerList = (headers: Record<string, string[]>): HeaderList =>
  Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const))

/** Every exchange of the folder, in our shape. */
export function* recordedTraffic(): Generator<Recorded> {
  for (const file of readdirSync(recordedFolder).filter((name) => name.endsWith('.jsonl'))) {
    const lines = readFileSync(join(recordedFolder, file), 'utf8').split('\n')
    for (const [number, line] of lines.entries()) {
      if (line === '') continue
      const { exchanges } = JSON.parse(line) as { exchanges: RecordedExchange[] }
      for (const [at, { request, response, expectedUsage }] of exchanges.entries()) {
        yield {
          where: `${file}:${number + 1} exchange ${at} (${request.method} ${request.url})`,
          expected: expectedUsage ?? null,
          exchange: {
            request: { ...request, headers: headerList(request.headers) },
            outcome: {
              kind: 'response',
              status: response.status,
              statusText: '',
              headers: headerList(response.headers),
              body: response.body,
              cuts: [],
              end: { kind: 'complete' },
            },
          },
        }
      }
    }
  }
}
