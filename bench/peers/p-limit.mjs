/** A fixed number of calls at once; one that is refused waits as it is told, in its place, and asks again. */
export const pLimit = {
  name: 'p-limit',
  packages: ['p-limit@7.3.3'],
  files: {
    'run.mjs': `
import pLimit from 'p-limit'
const { PROVIDER, CONCURRENCY, LANES, MAX_OUTPUT } = process.env
const limit = pLimit(Number(CONCURRENCY))
async function ask(model, seed) {
  const content = 'x'.repeat(30)
  const body = JSON.stringify({ model, seed, max_completion_tokens: Number(MAX_OUTPUT), messages: [{ role: 'user', content }] })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  for (;;) {
    const response = await fetch(PROVIDER + '/v1/chat/completions', init)
    await response.text()
    if (response.ok) return
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after-ms'))))
  }
}
const lanes = JSON.parse(LANES)
const most = Math.max(...lanes.map(({ calls }) => calls))
const calls = Array.from({ length: most }, (_, n) => lanes.filter((lane) => n < lane.calls).map((lane) => [lane.model, n]))
await Promise.all(calls.flat().map(([model, n]) => limit(ask, model, n)))
`,
  },
}
