// `gh api` as far as the documented workflow uses it, on a file of comments: arguments are read as gh reads them, and
// `--jq` goes through jq with the caller's environment.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [command, ...args] = process.argv.slice(2)
if (command !== 'api') throw new Error(`gh ${command} is not known here`)
const file = process.env.GH_COMMENTS ?? ''
if (process.env.GH_TOKEN !== 'token') throw new Error('gh needs GH_TOKEN')

let method = null
let path = ''
let jq = null
let silent = false
const fields = {}
while (args.length > 0) {
  const arg = args.shift()
  if (arg === '--paginate') continue
  else if (arg === '--silent') silent = true
  else if (arg === '-X') method = args.shift()
  else if (arg === '--jq') jq = args.shift()
  else if (arg === '-F') {
    const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(args.shift() ?? '') ?? []
    fields[name] = value.startsWith('@') ? readFileSync(value.slice(1), 'utf8') : value
  } else if (arg.startsWith('-')) throw new Error(`gh api has no ${arg} here`)
  else path = arg
}
method ??= Object.keys(fields).length > 0 ? 'POST' : 'GET'

const comments = JSON.parse(readFileSync(file, 'utf8'))
let answer
if (method === 'GET' && path === 'repos/o/r/issues/7/comments') answer = comments
else if (method === 'POST' && path === 'repos/o/r/issues/7/comments') {
  answer = { id: comments.length + 1, body: fields.body, user: { login: 'github-actions[bot]' } }
  comments.push(answer)
} else if (method === 'PATCH' && /^repos\/o\/r\/issues\/comments\/\d+$/.test(path)) {
  answer = comments.find(({ id }) => String(id) === path.split('/').at(-1))
  answer.body = fields.body
} else throw new Error(`404: ${method} ${path}`)
if (method !== 'GET') writeFileSync(file, JSON.stringify(comments))

if (jq !== null) {
  const { status, stdout, stderr } = spawnSync('jq', ['-r', jq], { input: JSON.stringify(answer), encoding: 'utf8' })
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  process.exitCode = status ?? 1
} else if (!silent) process.stdout.write(JSON.stringify(answer))
