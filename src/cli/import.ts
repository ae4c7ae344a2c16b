import { lstat, mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, extname, relative, resolve } from 'node:path'
import type { CellCoordinates } from '../core/campaign/identity.ts'
import { encodeRecording } from '../core/traffic/format.ts'
import { readHar } from '../core/traffic/import/har.ts'
import { ImportError, type ImportedFile, importedExchanges } from '../core/traffic/import/imported.ts'
import { readVcr } from '../core/traffic/import/vcr.ts'
import { createRedactor } from '../core/traffic/redact.ts'
import { writeAtomic } from '../plugin/pool/atomic-file.ts'
import { readRecording, writeRecording } from '../plugin/replay/disk.ts'
import { recordingPath, recordingPlace } from '../plugin/replay/path.ts'
import { type CliArguments, type CliContext, CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { projectRoot, realPath, shown } from './project.ts'

const FORMATS = ['har', 'vcr'] as const
type Format = (typeof FORMATS)[number]

/** Larger exports are split before: a whole file is read into memory. */
const MAX_FILE = 256 * 1024 * 1024

/** `import` is a word of the language. */
export const importCommand: Command = {
  name: 'import',
  summary: 'turn a HAR file or a vcrpy cassette into a recording',
  positionals: ['<file>'],
  details: [
    'Reads HAR 1.2, as browsers and proxies export it, and vcrpy cassettes (YAML or JSON), and redacts what is written.',
    'With --eval, --campaign, --variant and --scenario it is the recording of that cell, beside its eval file; with --out',
    'a file of its own, for createReplayFetch() and replayHandlers(). A call that cannot be imported is named and nothing',
    'is written.',
  ],
  options: {
    eval: { type: 'string', value: '<file>', description: 'eval file of the cell' },
    campaign: { type: 'string', value: '<id>', description: 'campaign of the cell' },
    variant: { type: 'string', value: '<id>', description: 'variant of the cell' },
    scenario: { type: 'string', value: '<id>', description: 'scenario of the cell' },
    seed: { type: 'string', value: '<n>', description: 'seed of the cell; default 0' },
    out: { type: 'string', value: '<file>', description: 'write to this file instead of a cell' },
    format: { type: 'string', value: '<har|vcr>', description: 'default: by the name of the file' },
    match: { type: 'string', value: '<text>', description: 'only calls whose address contains this' },
    force: { type: 'boolean', description: 'replace a recording that is there' },
  },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const target = await targetOf(context, root, args)
    const { path, text } = await input(context, args)
    const read = parse(path, text, formatOf(args, path), args.text('match'))
    for (const skipped of read.skipped) note(context, `${shown(context, path)}: left out: ${skipped}`)
    if (read.calls.length === 0) throw new CliError(`${shown(context, path)} holds no call to import`)
    const importedAt = new Date().toISOString()
    const redactor = createRedactor({ env: context.env })
    const exchanges = importedExchanges(read.calls, { redactor, importedAt })
    const recordedAt = exchanges.map(({ startedAt }) => startedAt).sort()[0] ?? importedAt
    const { campaignId, variantId, scenarioId, seed } = target.cell
    const recording = encodeRecording({ campaignId, variantId, scenarioId, seed, recordedAt, exchanges })
    const secrets = redactor.scan(recording)
    if (secrets.length > 0) {
      throw new CliError(`nothing was written: redaction left what the rules ${secrets.join(', ')} call a secret`)
    }
    if (!args.flag('force') && (await target.exists())) {
      throw new CliError(`${shown(context, target.path)} is there already: --force replaces it`)
    }
    await target.write(recording)
    const redacted = exchanges.flatMap((one) => one.redactions).reduce((sum, { count }) => sum + count, 0)
    context.stdout.write(
      `${shown(context, target.path)}: ${exchanges.length} ${exchanges.length === 1 ? 'call' : 'calls'}, ${redacted} redacted\n`,
    )
    return 0
  },
}

interface Target {
  readonly cell: CellCoordinates
  readonly path: string
  exists(): Promise<boolean>
  write(text: string): Promise<void>
}

async function targetOf(context: CliContext, root: string, args: CliArguments): Promise<Target> {
  const named = ['eval', 'campaign', 'variant', 'scenario'].filter((name) => args.text(name) !== undefined)
  const out = args.text('out')
  if (out !== undefined) {
    if (named.length > 0) throw new CliError(`--out and --${named[0]} exclude each other: a file, or a cell`)
    return fileTarget(context, root, out)
  }
  const [evalFile, campaignId, variantId, scenarioId] = ['eval', 'campaign', 'variant', 'scenario'].map((name) => {
    const text = args.text(name)
    if (text === undefined)
      throw new CliError(`--${name} is missing: a cell is --eval, --campaign, --variant and --scenario`)
    return text
  }) as [string, string, string, string]
  const text = args.text('seed') ?? '0'
  const seed = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(seed)) throw new CliError(`--seed ${text} is no seed`)
  const file = await realPath(root, relative(root, resolve(context.cwd, evalFile)))
  if (file === null) throw new CliError(`--eval ${evalFile} is not there`)
  const cell = { campaignId, variantId, scenarioId, seed }
  const place = recordingPlace(file, cell)
  return {
    ...{ cell, path: recordingPath(file, cell) },
    exists: async () => (await readRecording(place)) !== null,
    write: (recording) => writeRecording(place, recording),
  }
}

async function fileTarget(context: CliContext, root: string, out: string): Promise<Target> {
  const path = resolve(context.cwd, out)
  const below = relative(root, path)
  const there = await realPath(root, below)
  const stem = basename(path).replace(/\..*$/, '')
  return {
    ...{ cell: { campaignId: 'imported', variantId: 'imported', scenarioId: stem, seed: 0 }, path },
    exists: async () => there !== null,
    async write(recording) {
      await mkdir(dirname(path), { recursive: true })
      await realPath(root, below)
      await writeAtomic(path, recording)
    },
  }
}

async function input(context: CliContext, args: CliArguments): Promise<{ path: string; text: string }> {
  const path = resolve(context.cwd, args.positionals[0] ?? '')
  const stats = await lstat(path).catch(() => null)
  if (stats === null) throw new CliError(`${shown(context, path)} is not there`)
  if (stats.isSymbolicLink())
    throw new CliError(`${shown(context, path)} is a symbolic link, and links are not followed`)
  if (!stats.isFile()) throw new CliError(`${shown(context, path)} is no file`)
  if (stats.size > MAX_FILE) {
    throw new CliError(
      `${shown(context, path)} has ${stats.size} bytes; up to ${MAX_FILE} are read: export fewer calls`,
    )
  }
  const bytes = await readFile(path)
  try {
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw new CliError(`${shown(context, path)} is no UTF-8 text`)
  }
}

function formatOf(args: CliArguments, path: string): Format {
  const given = args.text('format')
  if (given !== undefined) {
    const found = FORMATS.find((format) => format === given)
    if (found === undefined) throw new CliError(`--format ${given} is not known; use ${FORMATS.join(' or ')}`)
    return found
  }
  const extension = extname(path).toLowerCase()
  if (extension === '.har') return 'har'
  if (extension === '.yaml' || extension === '.yml') return 'vcr'
  throw new CliError(`what is in ${basename(path)} does not show in its name: say --format ${FORMATS.join(' or ')}`)
}

function parse(path: string, text: string, format: Format, match: string | undefined): ImportedFile {
  const keep = (url: string) => match === undefined || url.includes(match)
  try {
    return format === 'har' ? readHar(text, keep) : readVcr(text, keep)
  } catch (error) {
    if (error instanceof ImportError) throw new CliError(`${basename(path)}: ${error.message}; nothing was written`)
    throw error
  }
}
