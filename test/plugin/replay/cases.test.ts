import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from '../../harness/run-vitest.ts'

/**
 * Ways in which other recorders are known to fail, and the test here that holds ours to the right behaviour: number,
 * what goes wrong elsewhere, file below test/, and a piece of the test's name.
 */
const CASES: readonly (readonly [number: number, wrong: string, file: string, name: string])[] = [
  [
    1,
    'an SDK that gets 429 then 200 hangs',
    'plugin/replay/clients/clients.test.ts',
    'tools, errors, repeats and aborts',
  ],
  [2, "undici's own fetch goes to the network unnoticed", 'plugin/replay/undici.test.ts', 'captured once each'],
  [3, 'a client built before the recorder is not captured', 'plugin/replay/more-cases.test.ts', 'cases 3 and 4'],
  [4, 'a warm connection gets real answers', 'plugin/replay/more-cases.test.ts', 'cases 3 and 4'],
  [
    5,
    'a mocked request leaves on a socket that was let through',
    'plugin/replay/guard.test.ts',
    'in replay every other way to the network',
  ],
  [6, 'the request after an idle close hangs', 'plugin/replay/more-cases.test.ts', 'case 6'],
  [7, 'the recorder records itself for ever', 'plugin/replay/undici.test.ts', 'captured once each'],
  [
    8,
    'pooled sockets credit calls to other cells',
    'plugin/replay/cell.test.ts',
    'through every client and shared connections',
  ],
  [9, 'every call leaves memory behind', 'plugin/replay/more-cases.test.ts', 'case 9'],
  [
    10,
    'a body flows on after its client gave up',
    'plugin/replay/stream.test.ts',
    'destroying the request closes the upstream',
  ],
  [11, 'a process does not end after a replayed stream', 'plugin/replay/more-cases.test.ts', 'case 11'],
  [12, 'redirects lose where they led', 'plugin/replay/fault.test.ts', 'redirects are followed hop by hop'],
  [
    13,
    "a server of the user's own displaces the recorder",
    'plugin/replay/interception.test.ts',
    'we stay first before, while and after',
  ],
  [
    14,
    'a miss that the program swallows passes',
    'plugin/replay/record-replay.test.ts',
    'that swallowing does not hide',
  ],
  [15, 'a request that waits for its socket is never sent', 'plugin/replay/more-cases.test.ts', 'case 15'],
  [
    16,
    'a WebSocket opens to nothing',
    'plugin/replay/guard.test.ts',
    'a WebSocket handshake over node:http is refused',
  ],
  [
    17,
    'HTTP/2 of the AWS SDK is not seen',
    'plugin/replay/guard.test.ts',
    'the AWS SDK is told about its HTTP/1.1 handler',
  ],
  [
    18,
    'a decoded body keeps its content-encoding',
    'plugin/replay/record-replay.test.ts',
    'body is the same live and replayed',
  ],
  [19, 'an empty gzip body breaks the decoder', 'plugin/replay/record-replay.test.ts', "'empty gzip'"],
  [20, 'compressed JSON is kept as noise', 'core/traffic/format.test.ts', 'with JSON to be read as JSON'],
  [21, 'bytes that are no text are replaced', 'plugin/replay/bad-input.test.ts', 'that sends what is no UTF-8'],
  [22, 'binary bodies are kept as hex, or not at all', 'core/traffic/format.test.ts', 'keeps every byte of every body'],
  [23, 'of two set-cookie headers one survives', 'plugin/replay/record-replay.test.ts', 'two set-cookie headers'],
  [24, 'a stream arrives when it is over', 'plugin/replay/stream.test.ts', 'arrives chunk by chunk while it streams'],
  [25, 'a stream replays in one piece', 'plugin/replay/style.test.ts', 'however a body is cut'],
  [
    26,
    'an SDK that stops at the last event loses the recording',
    'plugin/replay/stream.test.ts',
    'stops at its last event',
  ],
  [27, 'an unread copy stalls the other', 'plugin/replay/interception.test.ts', 'cancelling our answer resolves'],
  [28, 'an upload never matches its boundary', 'plugin/replay/record-replay.test.ts', 'uploads match by their parts'],
  [29, 'another order of keys is a miss', 'core/traffic/match.test.ts', 'written in another order has the same key'],
  [30, 'the stored answer is rewritten', 'plugin/replay/all-traffic.test.ts', 'it replays the same, to the byte'],
  [
    31,
    'bodies that do not parse count as equal',
    'core/traffic/match.test.ts',
    'keeps very deep JSON apart by its bytes',
  ],
  [
    32,
    'another temperature or seed gets the old answer',
    'plugin/replay/record-replay.test.ts',
    'a request of another configuration',
  ],
  [
    33,
    'a changed prompt silently gets the old answer',
    'plugin/modes/auto.test.ts',
    'a changed prompt fails with what changed',
  ],
  [34, 'only the last message is matched', 'core/traffic/match.test.ts', 'another value has another'],
  [35, 'seeds beyond 2^53 collide', 'core/traffic/match.test.ts', 'another value has another'],
  [
    36,
    'n samples get the first answer n times',
    'plugin/replay/record-replay.test.ts',
    'identical calls are answered in their order',
  ],
  [37, 'equal requests of many cells swap answers', 'plugin/replay/clients/clients.test.ts', '50 cells at once'],
  [38, 'the count of repeats gets out of step', 'plugin/replay/record-replay.test.ts', 'ordinals follow the calls'],
  [39, 'the last answer is served for ever', 'core/traffic/tape.test.ts', 'never a last one again'],
  [
    40,
    'recording serves from the tape',
    'plugin/replay/record-replay.test.ts',
    'policy %s without a recording goes live',
  ],
  [
    41,
    'a recorded 429 is served for ever, or lost',
    'plugin/replay/record-replay.test.ts',
    '429 then 200 is one call to the SDK, made again by us',
  ],
  [42, 'a second writer forgets to redact', 'plugin/replay/cell.test.ts', 'a secret that redaction did not reach'],
  [43, 'headers are scrubbed by their spelling', 'core/traffic/redact.test.ts', 'in whatever case'],
  [
    44,
    'keys in addresses, errors and the environment are kept',
    'plugin/replay/laws.test.ts',
    'a secret anywhere in a call',
  ],
  [45, 'redaction breaks lengths and cuts', 'core/traffic/redact.test.ts', 'cuts add up to the new body'],
  [46, 'who has no key misses', 'core/traffic/redact.test.ts', 'replay must not depend on having a key'],
  [
    47,
    'a failed test keeps, or loses, what it should not',
    'plugin/modes/modes.test.ts',
    'only a cell that settled cleanly',
  ],
  [48, 'an expired recording calls the network in CI', 'plugin/modes/auto.test.ts', 'replays it ever after'],
  [49, 'what nobody asked for is not told', 'plugin/replay/bad-input.test.ts', 'tells what nobody asked for'],
  [50, 'recording again keeps the old calls', 'plugin/modes/modes.test.ts', '-u records the selected cells again'],
  [51, 'a huge body makes a huge file', 'plugin/replay/large.test.ts', 'of a 200 MB body a bounded part is kept'],
  [52, 'recording the same again changes the file', 'plugin/replay/rerecord.test.ts', 'changes no byte'],
  [53, 'parallel tests share a tape', 'plugin/replay/clients/clients.test.ts', '50 cells at once'],
  [
    54,
    'a subject in another process is not seen',
    'plugin/replay/guard-starts.test.ts',
    'starts nothing that cannot be watched',
  ],
]

test('every known way to fail has its test', () => {
  expect(CASES.map(([number]) => number)).toEqual(Array.from({ length: 54 }, (_, index) => index + 1))
  const missing = CASES.filter(
    ([, , file, name]) => !readFileSync(join(REPOSITORY, 'test', file), 'utf8').includes(name),
  )
  expect(missing).toEqual([])
})
