import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, runKeptVitest as runVitest } from '../../harness/run-vitest.ts'
import { filesBelow, recordings } from './project.ts'
import { type Answer, completion, startProvider, streamed } from './provider.ts'

/** No shape that a pattern knows: only as the value of a variable can it be told. */
const SECRET = 'correct horse/battery+staple=9'
const FORMS = [
  // By the rule of the user's own in vitest.config.ts.
  'BADGE-7731',
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64').replaceAll('=', ''),
  JSON.stringify(SECRET).slice(1, -1),
]

/** A provider that gives back what it was given, in bodies, headers, errors, and cut through by the chunks of a stream. */
const echoing: Answer = ({ body }, response) => {
  if (body.includes('"error"')) {
    response.writeHead(400, { 'content-type': 'application/json', 'x-echo': SECRET })
    // Of a key it would close the lane.
    response.end(JSON.stringify({ error: { message: `No model takes ${SECRET}`, type: 'invalid_request_error' } }))
  } else if (body.includes('"stream":true')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = streamed('gpt-5-mini', 'a', 5)
      .map((line) => `data: ${line}\n\n`)
      .join('')
      .replace('"content":"a"', `"content":"you said ${SECRET}"`)
    const middle = text.indexOf(SECRET) + 7
    response.write(text.slice(0, middle))
    setTimeout(() => response.end(text.slice(middle)), 30)
  } else {
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': `s=${SECRET}` })
    response.end(completion('gpt-5-mini', `I heard ${SECRET}`, 5))
  }
  return true
}

test('a key of .env goes to the provider and nowhere else', async () => {
  const provider = await startProvider(echoing)
  const root = await project('modes')
  await writeFile(join(root, '.env'), `OPENAI_API_KEY="${SECRET}"\n`)
  const { OPENAI_API_KEY: _key, ...rest } = provider.env
  const env = { ...rest, FILES: 'secrets.eval.ts' }

  const live = await runVitest(root, ['--project', 'evals', '--reporter=verbose', '--reporter=json'], env)
  const calls = provider.fresh()
  expect(calls).toHaveLength(7)
  expect(calls.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true)
  const { records } = await inspectRun(root)
  expect(records).toHaveLength(7)
  expect(Object.keys(await recordings(root)).length).toBeGreaterThanOrEqual(5)
  const replay = await runVitest(root, ['--project', 'evals', '--reporter=verbose'], { ...env, CI: '1' })
  const changed = await runVitest(root, ['--project', 'evals'], {
    ...env,
    CI: '1',
    OPENAI_BASE_URL: 'http://api.openai.com/v2',
  })
  expect(provider.fresh()).toEqual([])

  const written = await filesBelow(root, (path) => path.includes('.evals/') || path.includes('__recordings__'))
  expect(written.length).toBeGreaterThan(10)
  const sinks: [string, string][] = [
    ['the terminal, live', live.output],
    ['the terminal, replayed', replay.output],
    ['the terminal, missed', changed.output],
    ...written.map(([path, bytes]): [string, string] => [path, bytes.toString()]),
  ]
  for (const [sink, text] of sinks)
    for (const form of FORMS) expect(text.includes(form), `${form} in ${sink}`).toBe(false)

  // Redaction is no loss: the replay finds every recorded request.
  const replayed = records.filter(({ status }) => status === 'scored').length
  expect(replayed).toBeGreaterThanOrEqual(5)
  const text = Object.values(await recordings(root)).join('')
  expect(text).toContain('on [redacted:badge]')
})
