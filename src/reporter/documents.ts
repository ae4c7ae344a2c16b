import { basename, join } from 'node:path'
import type { CampaignMaterial } from '../core/report/material.ts'
import type { CampaignReport } from '../core/report/report.ts'
import { renderIndex } from './html/index-page.ts'
import { listRuns } from './html/runs.ts'
import { renderHtml } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { writeDocument } from './write-document.ts'

export interface WrittenDocuments {
  /** The one to look at: the page, else the Markdown; null where neither was written. */
  readonly path: string | null
  /** What could not be written, and why. */
  readonly problems: readonly string[]
}

/**
 * Writes the renderings of a report that are files. One that cannot be rendered or written is a problem to print: the
 * verdict does not depend on it.
 *
 * @param material null where the cells are not at hand: then there is no page
 */
export async function writeDocuments(
  report: CampaignReport,
  material: CampaignMaterial | null,
  paths: { readonly md: string; readonly html: string },
): Promise<WrittenDocuments> {
  const problems: string[] = []
  const write = async (name: string, path: string, render: () => string): Promise<string | null> => {
    const problem = await written(path, render)
    if (problem === null) return path
    problems.push(`the ${name} report was not written: ${problem}`)
    return null
  }
  const markdown = await write('Markdown', paths.md, () => renderMarkdown(report))
  if (material === null) return { path: markdown, problems }
  const page = await write('HTML', paths.html, () => renderHtml(report, material, basename(paths.html, '.html')))
  return { path: page ?? markdown, problems }
}

/** Lists the runs below `.evals` in its `index.html`. Null, or why it was not written. */
export async function writeIndex(evals: string): Promise<string | null> {
  const problem = await written(join(evals, 'index.html'), async () => {
    const { runs, older } = await listRuns(evals)
    return renderIndex(runs, older)
  })
  return problem === null ? null : `the list of runs was not written: ${problem}`
}

/** Null, or why there is nothing to write or it could not be written. */
async function written(path: string, render: () => string | Promise<string>): Promise<string | null> {
  try {
    return await writeDocument(path, await render())
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
