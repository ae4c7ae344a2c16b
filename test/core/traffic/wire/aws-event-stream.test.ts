import { describe, expect, it } from 'vitest'
import { readAwsEvents } from '../../../../src/core/traffic/wire/aws-event-stream.ts'
import { readExchange } from '../../../../src/core/traffic/wire/read.ts'
import { awsEvent } from '../../../harness/aws-event.ts'

const CONVERSE = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse'

const stream = [
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { delta: { text: 'hi' } }),
  awsEvent('messageStop', { stopReason: 'end_turn' }),
  awsEvent('metadata', { usage: { inputTokens: 22, outputTokens: 13, cacheWriteInputTokens: 100 } }),
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
