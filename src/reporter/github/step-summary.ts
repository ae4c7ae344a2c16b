import { appendFile, stat } from 'node:fs/promises'
import { renderSummary, type Summarized } from './summary.ts'

/** Beyond it the runner throws the summary of the whole step away, ours and everybody else's. */
const LIMIT = 1_048_576
/** Most that one run takes of it: other commands of the step write there too. */
const SHARE = 262_144
/** What is left for those that write after us. */
const RESERVE = 65_536

/**
 * Appends a run to the summary of the step, beside what stands there.
 *
 * @returns null, or why nothing was written
 */
export async function appendStepSummary(path: string, run: Summarized): Promise<string | null> {
  try {
    const { size } = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return { size: 0 }
      throw error
    })
    const limit = Math.min(SHARE, LIMIT - RESERVE - size) - 1
    const document = renderSummary(run, { limit, measure: Buffer.byteLength })
    if (document === '') return `the step's summary is full: ${size} of ${LIMIT} bytes are taken`
    await appendFile(path, `\n${document}`)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
