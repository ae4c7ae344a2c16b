import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { renderIndex } from '../../../src/reporter/html/index-page.ts'
import { renderHtml } from '../../../src/reporter/html.ts'
import { chromiumPath, launch, NO_CHROMIUM, openPage } from './browser.ts'
import { type Campaign, largeCampaign, richCampaign, sayingCampaign, smallCampaign } from './campaign.ts'
import { LISTED } from './listed.ts'
import { HOSTILE } from './parsed.ts'

const rendered = ({ report, material }: Campaign): string => renderHtml(report, material, 'triage')

const rich = rendered(richCampaign())
const small = rendered(smallCampaign())
/** Its charts and tables, without what its rows open to. */
const closed = rich.replace(/<tr class="d">[\s\S]*?<\/tr>/g, '')
let browser: Browser

beforeAll(async () => {
  if (chromiumPath !== null) browser = await launch()
})
afterAll(() => browser?.close())
beforeEach(({ skip }) => skip(chromiumPath === null, NO_CHROMIUM))

/** Presses Tab until the focus is where it should be: the way a user without a mouse gets there. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
  }
  throw new Error(`Tab does not reach ${selector}`)
}

const scenarios = (page: Page): Promise<string[]> =>
  page.$$eval('#sc tbody:not([hidden]) > tr:first-child > th', (heads) => heads.map((head) => head.textContent ?? ''))

/** Findings that keep somebody from reading: serious and critical ones. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const run = Reflect.get(globalThis, 'axe') as { run(): Promise<{ violations: Violation[] }> }
    const { violations } = await run.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 200))
            .join(' | ')}`,
      )
  })
}
interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

const openAll = (page: Page): Promise<void> =>
  page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")

/** What of a page can act. */
const ACTIVE = `({
  pwned: 'pwned' in globalThis,
  images: document.images.length,
  scripts: document.scripts.length,
  handlers: [...document.querySelectorAll('*')].filter((element) =>
    element.getAttributeNames().some((name) => name.startsWith('on') || name === 'style')).length,
})`

describe('in a browser, from a file', () => {
  test('the page says nothing against itself and asks for nothing', async () => {
    const { page, complaints } = await openPage(browser, rich)
    await openAll(page)
    expect(await page.title()).toBe('triage')
    expect(complaints).toEqual([])
  })

  test('scenarios are sorted by keyboard, and back', async () => {
    const { page, complaints } = await openPage(browser, closed)
    const before = await scenarios(page)
    expect(before).toHaveLength(24)
    await tabTo(page, '#sc thead th:first-child button')
    await page.keyboard.press('Enter')
    expect(await scenarios(page)).toEqual(before.toSorted())
    expect(await page.getAttribute('#sc thead th:first-child', 'aria-sort')).toBe('ascending')
    await page.keyboard.press('Enter')
    expect(await scenarios(page)).toEqual(before.toSorted().reverse())
    await tabTo(page, '#sc thead th:nth-child(3) button')
    await page.keyboard.press('Space')
    const deltas = await page.$$eval('#sc tbody > tr:first-child > td:nth-of-type(2)', (cells) =>
      cells.map((cell) => Number(cell.getAttribute('data-v'))),
    )
    expect(deltas).toEqual(deltas.toSorted((a, b) => a - b))
    expect(await page.getAttribute('#sc thead th:first-child', 'aria-sort')).toBe('none')
    expect(complaints).toEqual([])
  })

  test('scenarios are filtered by keyboard, and the number of them is said', async () => {
    const { page } = await openPage(browser, closed)
    await tabTo(page, '#f-text')
    await page.keyboard.type('refund')
    await expect.poll(() => page.textContent('#f-count')).toBe('6 of 24 shown')
    await tabTo(page, '#f-change')
    // One letter: a browser forgets what was typed into a list after a second, and a busy machine types slowly.
    await page.keyboard.press('s')
    await page.keyboard.press('Enter')
    expect(await page.inputValue('#f-change')).toBe('same')
    await expect.poll(async () => (await scenarios(page)).length).toBeLessThan(6)
    await page.fill('#f-text', 'nothing like it')
    await expect.poll(() => page.isVisible('#sc-none')).toBe(true)
    await page.focus('#filter button')
    await page.keyboard.press('Enter')
    // Not waitForFunction: it evaluates a string, which the page's policy refuses.
    await expect.poll(() => page.textContent('#f-count')).toBe('24 of 24 shown')
    await page.selectOption('#f-status', 'infra_error')
    await expect.poll(() => scenarios(page)).toEqual(['delivery/late-parcel'])
  })

  test('a cell is opened by keyboard, down to its exchange', async () => {
    const { page } = await openPage(browser, rich)
    const request = page.locator('#sc .exs pre').first()
    expect(await request.isVisible()).toBe(false)
    for (const part of ['.dt', '.exs', '.ex']) {
      await tabTo(page, `#sc details${part} > summary`)
      await page.keyboard.press('Enter')
    }
    expect(await page.locator('#sc .ex .sides > div > pre').first().isVisible()).toBe(true)
    expect(await page.locator('#sc .cell pre').first().isVisible()).toBe(true)
  })

  test('text of others stays text everywhere', async () => {
    // Each for itself is parsed in another test; here all of them meet a browser at once.
    for (const hostile of [HOSTILE[0] ?? '', HOSTILE.join(' ').toWellFormed()]) {
      const { page, complaints } = await openPage(browser, rendered(sayingCampaign(hostile)))
      await openAll(page)
      await page.locator('#sc thead button').first().click()
      await page.fill('#f-text', hostile.replace(/\p{Cc}/gu, ''))
      expect({ hostile, complaints, found: await page.evaluate(ACTIVE) }).toEqual({
        hostile,
        complaints: [],
        found: { pwned: false, images: 0, scripts: 1, handlers: 0 },
      })
    }
  })

  test('without scripts everything is there', async () => {
    const { page, complaints } = await openPage(browser, small, { javaScriptEnabled: false })
    expect(await page.locator('#sc tbody > tr:first-child > th').count()).toBe(6)
    expect(await page.locator('#filter').isVisible()).toBe(false)
    expect(await page.locator('#sc thead button').count()).toBe(0)
    const summary = page.locator('#sc details.dt > summary').first()
    await summary.focus()
    await page.keyboard.press('Enter')
    expect(await page.locator('#sc .cell').first().isVisible()).toBe(true)
    for (const section of ['verdict', 'coverage', 'scenarios', 'variants', 'latency', 'judges', 'spread', 'method'])
      expect(await page.locator(`#${section}`).isVisible()).toBe(true)
    expect(complaints).toEqual([])
  })

  test.each([1280, 400])('%i px wide nothing is wider than the window', async (width) => {
    const { page } = await openPage(browser, small, { viewport: { width, height: 900 } })
    await openAll(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

  test('printed, what only a screen can use is gone', async () => {
    const { page } = await openPage(browser, closed)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('nav').isVisible()).toBe(false)
    expect(await page.locator('#filter').isVisible()).toBe(false)
    expect(await page.locator('#sc').isVisible()).toBe(true)
  })

  test('5,000 cells open, and are sorted and filtered', async () => {
    const { page, complaints } = await openPage(browser, rendered(largeCampaign()))
    const all = await scenarios(page)
    expect(all).toHaveLength(500)
    await page.locator('#sc thead button').first().click()
    expect(await scenarios(page)).toEqual(all.toSorted())
    await page.fill('#f-text', 's499')
    expect(await scenarios(page)).toEqual(['s499'])
    expect(complaints).toEqual([])
  })
})

describe.each(['light', 'dark'] as const)('axe finds nothing serious, %s', (colorScheme) => {
  test('in a campaign with something of everything', async () => {
    const { page } = await openPage(browser, closed, { colorScheme })
    expect(await findings(page)).toEqual([])
  })

  test('in a campaign that is opened down to its exchanges, 400 px wide', async () => {
    const { page } = await openPage(browser, small, {
      colorScheme,
      viewport: { width: 400, height: 900 },
    })
    await openAll(page)
    expect(await findings(page)).toEqual([])
  })

  test('in the list of runs', async () => {
    const { page, complaints } = await openPage(browser, renderIndex(LISTED, 3), { colorScheme })
    expect(await findings(page)).toEqual([])
    expect(complaints).toEqual([])
  })
})
