// A provider that enforces the limits of a shape, in a process of its own: node capacity-provider.mjs <number of the shape>
// Sends its address to its parent, and on any message what it counted.
import { createServer } from 'node:http'
import { callOf, SHAPES } from './capacity-shapes.mjs'

const lanes = new Map(SHAPES[Number(process.argv[2])].lanes.map((lane) => [lane.model, stateOf(lane)]))
let first = null
let last = 0
let answered = 0
let over = 0

function stateOf(lane) {
  return { ...lane, inFlight: 0, due: { requests: 0, tokens: 0 } }
}

/** Null: it may come in; else for how long not, milliseconds. */
function refuse(lane, weight, now) {
  const { concurrency, requestsPerMinute, tokensPerMinute, burstSeconds = 60, dips = [] } = lane
  const dip = dips.find(({ from, to }) => from <= now - first && now - first < to)
  if (lane.inFlight >= (dip?.concurrency ?? concurrency)) return 200
  const after = (due, units, perMinute) =>
    perMinute === undefined ? now : Math.max(due, now) + (units * 60_000) / perMinute
  const due = {
    requests: after(lane.due.requests, 1, requestsPerMinute),
    tokens: after(lane.due.tokens, weight, tokensPerMinute),
  }
  const wait = Math.max(due.requests, due.tokens) - now - burstSeconds * 1_000
  if (wait > 0) return Math.ceil(wait)
  lane.due = due
  return null
}

const json = { 'content-type': 'application/json' }
const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  request.on('end', () => {
    const { model, seed } = JSON.parse(text)
    const lane = lanes.get(model)
    const now = performance.now()
    first ??= now
    const { ms, input, output } = callOf(seed)
    const wait = refuse(lane, input + output, now)
    if (wait !== null) {
      over++
      response.writeHead(429, { ...json, 'retry-after-ms': String(wait) })
      response.end('{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}')
      return
    }
    lane.inFlight++
    setTimeout(() => {
      lane.inFlight--
      answered++
      last = performance.now()
      const message = { role: 'assistant', content: 'yes' }
      response.writeHead(200, json).end(
        JSON.stringify({
          ...{ id: 'c', object: 'chat.completion', created: 1, model },
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
        }),
      )
    }, ms)
  })
})
// A connection that waits is not closed under a request that is on its way.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
process.on('message', () => process.send({ answered, over, ms: last - first }))
