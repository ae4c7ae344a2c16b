// The provider of bench/traffic.mjs: node traffic-upstream.mjs <delay in ms>; tells its parent the address.
import { createServer } from 'node:http'

const delay = Number(process.argv[2])
const content = 'a thousand bytes of an answer. '.repeat(30)
const answer = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    if (delay > 0) setTimeout(reply, delay)
    else reply()
  })
})
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/v1/chat/completions`))
process.on('disconnect', () => process.exit())
