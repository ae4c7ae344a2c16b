import { resolve } from 'node:path'
import type { RunRecord } from '../core/record/record.ts'
import { writeAtomic } from '../plugin/pool/atomic-file.ts'
import { csvOf } from '../reporter/export/csv.ts'
import { jsonLineOf } from '../reporter/export/json-lines.ts'
import { chosen } from './campaigns.ts'
import { CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { projectRoot, shown } from './project.ts'
import { type OpenRun, openRun, runNotes } from './rebuild.ts'
import { findRun } from './run-folder.ts'

const FORMATS = ['jsonl', 'csv'] as const

export const exportCommand: Command = {
  name: 'export',
  summary: "write a run's records as JSON lines or CSV",
  positionals: ['[run]'],
  details: [
    'One row per cell, in the order of the plans. jsonl: records as docs/architecture.md describes them. csv: RFC 4180, for',
    'spreadsheets; control characters are shown as escapes, and text that begins like a formula begins with a quote sign.',
    '[run] is the id of a run, its folder, or nothing for the newest.',
  ],
  options: {
    format: { type: 'string', value: FORMATS.join('|'), description: 'default: by the name of --out, else jsonl' },
    out: { type: 'string', value: '<file>', description: 'where to write; default: standard output' },
    campaign: { type: 'string', value: '<id>', description: 'the records of this campaign alone' },
  },
  async run(context, args) {
    const out = args.text('out')
    const format = formatOf(args.text('format'), out)
    const root = await projectRoot(context, args)
    const run = await openRun(context, await findRun(context, root, args.positionals[0]))
    try {
      const campaigns = chosen(run, args.text('campaign'))
      let rows = 0
      const lines = format === 'csv' ? csvOf(() => recordsOf(run, campaigns)) : jsonLines(run, campaigns)
      const counted = (function* () {
        for (const line of lines) {
          rows++
          yield line
        }
      })()
      if (out === undefined) for (const line of counted) context.stdout.write(line)
      else {
        const path = resolve(context.cwd, out)
        await writeAtomic(path, counted)
        const cells = format === 'csv' ? rows - 1 : rows
        note(context, `${cells} ${cells === 1 ? 'record' : 'records'} written to ${shown(context, path)}`)
      }
      for (const text of runNotes(run)) note(context, text)
      return 0
    } finally {
      run.close()
    }
  },
}

type Campaigns = ReturnType<typeof chosen>

function* recordsOf(run: OpenRun, campaigns: Campaigns): Generator<RunRecord> {
  for (const campaign of campaigns) yield* run.records(campaign)
}

function* jsonLines(run: OpenRun, campaigns: Campaigns): Generator<string> {
  for (const campaign of campaigns) for (const text of run.texts(campaign)) yield jsonLineOf(text)
}

function formatOf(given: string | undefined, out: string | undefined): (typeof FORMATS)[number] {
  const wanted = given ?? (out?.endsWith('.csv') === true ? 'csv' : 'jsonl')
  const format = FORMATS.find((one) => one === wanted)
  if (format !== undefined) return format
  throw new CliError(`--format ${JSON.stringify(wanted)} is none of ${FORMATS.join(', ')}`)
}
