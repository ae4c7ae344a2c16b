// Runs Vitest as often as it is told to, one run after the other, in one process: what `vitest run` does on its command
// line, without loading Vitest, Vite and the package again each time. See kept-process.ts.
import { pathToFileURL } from 'node:url'

const [, , entry, cli] = process.argv
const { parseCLI, startVitest } = await import(pathToFileURL(entry).href)

process.on('disconnect', () => process.exit())
process.on('message', async ({ args, env, mark }) => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, cli, 'run', ...args]
  process.exitCode = undefined
  const { filter, options } = parseCLI(['vitest', 'run', ...args])
  try {
    const vitest = await startVitest('test', filter, options)
    await vitest.close()
  } catch (error) {
    console.error('\nStartup Error')
    console.error(error)
    process.exitCode ||= 1
  }
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  // Behind everything the run has printed.
  process.stdout.write(mark)
  process.stderr.write(mark)
  process.send({ code })
})
