import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** The Chromium of this machine; null where there is none. Nothing is downloaded. */
export const chromiumPath: string | null =
  [process.env.CHROMIUM_PATH, ...PLACES].find((path) => path !== undefined && existsSync(path)) ?? null

export const NO_CHROMIUM =
  'no Chromium on this machine: install it (Debian: apt-get install chromium), or name it in CHROMIUM_PATH'

export function launch(): Promise<Browser> {
  const asRoot = process.getuid?.() === 0
  return chromium.launch({ executablePath: chromiumPath ?? '', args: asRoot ? ['--no-sandbox'] : [] })
}

/** A page opened from a file, with everything that a browser says against it or asks of a network. */
export interface Opened {
  readonly page: Page
  /** Errors and warnings of the console, uncaught errors, dialogs, and requests for anything but the file itself. */
  readonly complaints: readonly string[]
}

/** What stands on the disk for a test, removed after it. */
export async function fileOf(document: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'page.html')
  await writeFile(path, document)
  return pathToFileURL(path).href
}

export async function openPage(
  browser: Browser,
  document: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const address = await fileOf(document)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    dialog.dismiss().catch(() => {})
  })
  page.on('request', (request) => {
    if (request.url() !== address && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`)
  })
  await page.goto(address)
  return { page, complaints }
}
