import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../../core/campaign/identity.ts'
import { type Capture, readCapture } from '../../core/traffic/capture.ts'
import { encodeExchange, RecordingError } from '../../core/traffic/format.ts'
import { encodeSent } from '../../core/traffic/sent.ts'
import { COMMANDS } from '../worker/command/checkpoints.ts'
import { writeAtomic } from './atomic-file.ts'

const EMPTY: Capture = { exchanges: [], sent: [], unfinished: [] }

/** What the cells of an earlier run left beside its journal, and how it comes into the folder of the run that goes on. */
export class CarriedFiles {
  readonly #from: string
  readonly #to: string

  constructor(from: string, to: string) {
    this.#from = from
    this.#to = to
  }

  /** Raw captures and artifacts of cells whose records stand, and the finished commands of all scorers. */
  async carry(cellIds: ReadonlySet<string>): Promise<void> {
    const commands = (await filesIn(join(this.#from, COMMANDS))) ?? []
    if (commands.length > 0) await makeFolder(join(this.#to, COMMANDS))
    for (const name of commands) await this.#bring(join(COMMANDS, name))
    const raw = (await filesIn(join(this.#from, 'raw'))) ?? []
    const captures = raw.filter((name) => cellIds.has(name.split('.')[0] ?? ''))
    for (const name of captures) await this.#bring(join('raw', name))
    for (const cellId of cellIds) {
      const artifacts = await filesIn(join(this.#from, 'artifacts', cellId))
      if (artifacts === null) continue
      await makeFolder(join(this.#to, 'artifacts'))
      await makeFolder(join(this.#to, 'artifacts', cellId))
      for (const name of artifacts) await this.#bring(join('artifacts', cellId, name))
    }
  }

  /** Of an attempt; empty where it made no live call. */
  async capture(cellId: string, attempt: number): Promise<Capture> {
    const path = this.#captureOf(cellId, attempt)
    const text = await textOf(path)
    try {
      return text === null ? EMPTY : readCapture(text, path)
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error
      throw new Error(
        `${path}:${error.line} is damaged. Empty the file to go on: what its calls cost is unknown then`,
        {
          cause: error,
        },
      )
    }
  }

  #captureOf(cellId: string, attempt: number): string {
    return join(this.#from, 'raw', `${cellId}.${attempt}.jsonl`)
  }

  /** Something left in an attempt, and nothing shows what: its process died before any of it ended. */
  async isBlank(cellId: string, attempt: number): Promise<boolean> {
    return (await textOf(this.#captureOf(cellId, attempt))) === ''
  }

  /** The names of all captures; null where somebody deleted their folder. */
  async captures(): Promise<ReadonlySet<string> | null> {
    const names = await filesIn(join(this.#from, 'raw'))
    return names === null ? null : new Set(names)
  }

  /** The subject's calls of an attempt that is to be scored: its own file, to which the judges' calls are added. */
  async carrySubject(cellId: string, attempt: number, { exchanges, sent }: Capture): Promise<void> {
    const lines = [
      ...sent.filter(({ role }) => role !== 'judge').map(encodeSent),
      ...exchanges.filter(({ role }) => role !== 'judge').map((exchange) => `${encodeExchange(exchange)}\n`),
    ]
    if (lines.length > 0) await writeAtomic(join(this.#to, 'raw', `${cellId}.${attempt}.jsonl`), lines)
  }

  /** A file of `outputs/`; false where it is not there, or not what was written. */
  async carryOutput(name: string): Promise<boolean> {
    const text = await textOf(join(this.#from, 'outputs', name))
    if (text === null || `${sha256Hex(text)}.json` !== name) return false
    await makeFolder(join(this.#to, 'outputs'))
    await this.#bring(join('outputs', name))
    return true
  }

  /** A second name of the same file where the disk has such, else a copy: neither run changes it any more. */
  async #bring(path: string): Promise<void> {
    const [from, to] = [join(this.#from, path), join(this.#to, path)]
    await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return
      await copyFile(from, to, constants.COPYFILE_EXCL)
    })
  }
}

/** The names of plain files: a symbolic link is none, and a folder is not what a run wrote. Null: there is no such folder. */
async function filesIn(folder: string): Promise<string[] | null> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function textOf(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
