import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readAwsEvents } from '../../../../src/core/traffic/wire/aws-event-stream.ts'
import { readExchange } from '../../../../src/core/traffic/wire/read.ts'

const CONVERSE = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse'

/** One message as the specification of the encoding lays it out. */
function message(type: string, payload: unknown): Buffer {
  const header = (name: string, value: string) => {
    const head = Buffer.alloc(1 + name.length + 3)
    head.writeUInt8(name.length, 0)
    head.write(name, 1)
    head.writeUInt8(7, 1 + name.length)
    head.writeUInt16BE(value.length, 2 + name.length)
    return Buffer.concat([head, Buffer.from(value)])
  }
  const headers = Buffer.concat([header(':event-type', type), header(':message-type', 'event')])
  const data = Buffer.from(JSON.stringify(payload))
  const whole = Buffer.alloc(12 + headers.length + data.length + 4)
  whole.writeUInt32BE(whole.length, 0)
  whole.writeUInt32BE(headers.length, 4)
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8)
  headers.copy(whole, 12)
  data.copy(whole, 12 + headers.length)
  whole.writeUInt32BE(crc32(whole.subarray(0, whole.length - 4)), whole.length - 4)
  return whole
}

const stream = [
  message('messageStart', { role: 'assistant' }),
  message('contentBlockDelta', { delta: { text: 'hi' } }),
  message('messageStop', { stopReason: 'end_turn' }),
  message('metadata', { usage: { inputTokens: 22, outputTokens: 13, cacheWriteInputTokens: 100 } }),
]

function read(bytes: Buffer) {
  return readExchange({
    request: { method: 'POST', url: `${CONVERSE}-stream`, headers: [], body: { text: '{"messages":[]}' } },
    outcome: {
      kind: 'response',
      status: 200,
      statusText: 'OK',
      headers: [['content-type', 'application/vnd.amazon.eventstream']],
      body: { base64: bytes.toString('base64') },
      cuts: [],
      end: { kind: 'complete' },
    },
  })
}

describe('the AWS event stream', () => {
  it('gives the events of a Bedrock stream, with the usage of its last one', () => {
    expect(read(Buffer.concat(stream))).toMatchObject({
      api: 'bedrock-converse',
      provider: 'bedrock',
      requestedModel: 'us.amazon.nova-lite-v1:0',
      usage: { input: 122, output: 13, cacheWrite: 100 },
      finishReason: 'end_turn',
      streamed: true,
      complete: true,
    })
  })

  it('is not complete, and has no usage, when it was cut anywhere', () => {
    const whole = Buffer.concat(stream)
    for (let length = 0; length < whole.length; length += 7) {
      expect(read(whole.subarray(0, length))).toMatchObject({ complete: false, usage: null })
    }
  })

  it('stops at a message whose checksum is wrong', () => {
    const whole = Buffer.concat(stream)
    const second = stream[0]?.length ?? 0
    for (const at of [second + 1, second + 20, second + 40]) {
      const damaged = Buffer.from(whole)
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at)
      expect(readAwsEvents(damaged).map(({ event }) => event)).toEqual(['messageStart'])
    }
  })
})
