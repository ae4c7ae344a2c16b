import { isBudget } from '../capacity/budget.ts'
import { CHECK_CODES, type IntegrityOptions, SEVERITIES } from '../integrity/codes.ts'
import { SPLITS, type Split } from '../record/record.ts'
import { childPath } from './canonical-json.ts'
import type { CampaignDefinition } from './definition.ts'
import type { Refuse } from './definition-error.ts'
import { checkKeys, checkPositive, checkText, isObject, nameOf } from './options.ts'

/** A definition whose types are not trusted: it may come from JavaScript, or from a cast. */
export type GivenDefinition = { readonly [option in keyof CampaignDefinition<object, object, unknown>]?: unknown }

/** The options of a campaign beside its sources, scorers and gate, checked, with defaults filled in. */
export interface Settings {
  readonly coverage: number
  /** Null: scenarios that name none are `holdout` and the report says that nobody declared it. */
  readonly split: Split | null
  /** Null: the project's. */
  readonly timeoutMs: number | null
  /** US dollars; null: none of its own. */
  readonly budgetUsd: number | null
  readonly capture: 'on' | 'off'
  readonly sideEffects: boolean
  readonly tags: { readonly [name: string]: string }
  readonly mocks: readonly unknown[]
  readonly integrity: IntegrityOptions
  /** Null: any origin may be called. */
  readonly routes: readonly string[] | null
  readonly digestFiles: readonly string[]
}

export const DEFAULT_COVERAGE = 0.95

export function readSettings(given: GivenDefinition, refuse: Refuse): Settings {
  const { timeout, split, mocks } = given
  if (timeout !== undefined) checkPositive(timeout, 'timeout', refuse)
  if (mocks !== undefined && !Array.isArray(mocks)) {
    refuse('mocks', `must be a list of msw handlers, not ${nameOf(mocks)}`)
  }
  return {
    coverage: coverageOf(given.coverage, refuse),
    split: split === undefined ? null : splitOf(split, 'split', refuse),
    timeoutMs: timeout ?? null,
    budgetUsd: budgetOf(given.budget, refuse),
    capture: captureOf(given.capture, refuse),
    sideEffects: sideEffectsOf(given.sideEffects, refuse),
    tags: tagsOf(given.tags, refuse),
    mocks: mocks ?? [],
    integrity: integrityOf(given.integrity, refuse),
    routes: routesOf(given.routes, refuse),
    digestFiles: digestFilesOf(given.digest, refuse),
  }
}

export function splitOf(split: unknown, path: string, refuse: Refuse): Split {
  const known = SPLITS.find((each) => each === split)
  return known ?? refuse(path, `must be one of ${SPLITS.join(', ')}, not ${nameOf(split)}`)
}

function coverageOf(coverage: unknown, refuse: Refuse): number {
  if (coverage === undefined) return DEFAULT_COVERAGE
  if (typeof coverage === 'number' && coverage > 0 && coverage <= 1) return coverage
  return refuse('coverage', `must be a share above 0 and at most 1, not ${nameOf(coverage)}`)
}

function budgetOf(budget: unknown, refuse: Refuse): number | null {
  if (budget === undefined) return null
  checkKeys(budget, 'budget', ['usd'], refuse)
  const usd = isObject(budget) ? budget.usd : undefined
  return isBudget(usd) ? usd : refuse('budget.usd', `must be a number of US dollars, 0 or more, not ${nameOf(usd)}`)
}

function captureOf(capture: unknown, refuse: Refuse): 'on' | 'off' {
  if (capture === undefined || capture === 'on') return 'on'
  return capture === 'off' ? 'off' : refuse('capture', `must be "on" or "off", not ${nameOf(capture)}`)
}

function sideEffectsOf(sideEffects: unknown, refuse: Refuse): boolean {
  if (sideEffects === undefined || typeof sideEffects === 'boolean') return sideEffects ?? false
  return refuse('sideEffects', `must be true or false, not ${nameOf(sideEffects)}`)
}

function tagsOf(tags: unknown, refuse: Refuse): Settings['tags'] {
  if (tags === undefined) return {}
  if (!isObject(tags)) return refuse('tags', `must be an object, not ${nameOf(tags)}`)
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(tags)) {
    checkText(value, childPath('tags', name), refuse)
    checked[name] = value
  }
  return checked
}

function integrityOf(integrity: unknown, refuse: Refuse): IntegrityOptions {
  if (integrity === undefined) return {}
  checkKeys(integrity, 'integrity', CHECK_CODES, refuse)
  const allowed: readonly unknown[] = [...SEVERITIES, 'off', undefined]
  for (const [code, severity] of Object.entries(integrity as object)) {
    if (allowed.includes(severity)) continue
    refuse(`integrity.${code}`, `must be "error", "warn" or "off", not ${nameOf(severity)}`)
  }
  return integrity as IntegrityOptions
}

/** Origins as URLs print them; a path would promise a precision that the check does not have. */
function routesOf(routes: unknown, refuse: Refuse): readonly string[] | null {
  if (routes === undefined) return null
  return textsOf(routes, 'routes', refuse).map((route, i) => {
    const url = URL.canParse(route) ? new URL(route) : null
    if (url === null || url.origin === 'null') {
      return refuse(`routes[${i}]`, `is ${nameOf(route)}: write an origin such as "https://api.openai.com"`)
    }
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
      refuse(`routes[${i}]`, `is no bare origin: write ${JSON.stringify(url.origin)}`)
    }
    return url.origin
  })
}

function digestFilesOf(digest: unknown, refuse: Refuse): readonly string[] {
  if (digest === undefined) return []
  checkKeys(digest, 'digest', ['files'], refuse)
  return textsOf(isObject(digest) ? digest.files : undefined, 'digest.files', refuse)
}

function textsOf(list: unknown, path: string, refuse: Refuse): readonly string[] {
  if (!Array.isArray(list)) return refuse(path, `must be a list, not ${nameOf(list)}`)
  return list.map((text: unknown, i) => {
    checkText(text, `${path}[${i}]`, refuse)
    return text
  })
}
