import { canonicalJson } from '../campaign/canonical-json.ts'
import { isObject } from '../campaign/options.ts'
import { issueText, type StandardSchema } from './standard-schema.ts'

/** Longest answer that is searched for a verdict, in UTF-16 code units. */
const LONGEST = 65_536
/** Most opening braces tried as the beginning of one: prose with more is no verdict. */
const MOST_BRACES = 200

/** The one verdict of an answer, or what is wrong with the answer, worded for the judge. */
export type Verdict = { readonly value: unknown } | { readonly defect: string }

/**
 * Reads the verdict out of a judge's answer: the one JSON object that the schema accepts, with or without prose around
 * it. Never the first of several, and never one that the judge took over from the text it judged.
 *
 * @param answer text, or an object that the client parsed already
 * @param artifact the judged text
 */
export async function verdictOf(answer: unknown, schema: StandardSchema, artifact: string): Promise<Verdict> {
  if (isObject(answer)) return checked([{ value: answer, quoted: false }], schema, textsOf(artifact), true)
  if (typeof answer !== 'string' || answer.trim() === '') return { defect: 'it is empty' }
  if (answer.length > LONGEST) return { defect: `it is longer than ${LONGEST} characters` }
  const found = objectsIn(answer)
  if (found.length === 0) return { defect: 'it holds no JSON object' }
  const bare = found.length === 1 && isBare(answer)
  return checked(found, schema, textsOf(artifact), bare)
}

async function checked(
  found: readonly Found[],
  schema: StandardSchema,
  inArtifact: ReadonlySet<string>,
  bare: boolean,
): Promise<Verdict> {
  const accepted: (Found & { readonly read: unknown })[] = []
  let rejected: string | null = null
  for (const each of found) {
    const { issues, ...result } = await schema['~standard'].validate(each.value)
    if (issues === undefined) accepted.push({ ...each, read: 'value' in result ? result.value : each.value })
    else rejected ??= issues[0] === undefined ? 'the schema rejects it' : issueText(issues[0])
  }
  const [first, second] = accepted
  if (first === undefined) return { defect: `its JSON object is not what was asked for: ${rejected ?? ''}` }
  if (second !== undefined) return { defect: `it holds ${accepted.length} verdicts` }
  const copied = inArtifact.has(keyOf(first.value)) && (!bare || hasText(first.value))
  if (first.quoted || copied) return { defect: 'its verdict is a quotation, not its own' }
  return { value: first.read }
}

interface Found {
  readonly value: unknown
  /** It stands in a quotation: after `>` at the beginning of its line, or between quotation marks or backticks. */
  readonly quoted: boolean
}

/** The JSON objects of a text that lie in no other one. */
function objectsIn(text: string): Found[] {
  const found: Found[] = []
  let tried = 0
  for (let at = text.indexOf('{'); at >= 0 && tried < MOST_BRACES; at = text.indexOf('{', at)) {
    tried++
    const end = endOfObject(text, at)
    const value = end === null ? null : parsed(text.slice(at, end))
    if (end === null || value === null) {
      at++
      continue
    }
    found.push({ value, quoted: isQuoted(text, at, end) })
    at = end
  }
  return found
}

/** Behind the brace that closes the one at `start`; null where none does. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at + 1
  }
  return null
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const OPENING = /["'`“‘«]$/
const CLOSING = /^["'`”’»]/

function isQuoted(text: string, start: number, end: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', start) + 1, start)
  if (/^\s*>/.test(line)) return true
  // A fence of three backticks is how models write JSON, not a quotation.
  return OPENING.test(line) && !line.endsWith('```') && CLOSING.test(text.slice(end))
}

/** Nothing but the object, in a code fence or not. */
function isBare(answer: string): boolean {
  return /^\s*(?:```\w*\s*)?\{[\s\S]*\}\s*(?:```\s*)?$/.test(answer)
}

function textsOf(artifact: string): ReadonlySet<string> {
  return new Set(objectsIn(artifact.slice(0, LONGEST)).map(({ value }) => keyOf(value)))
}

const keyOf = (value: unknown): string => {
  try {
    return canonicalJson(value, '')
  } catch {
    // A client's own object may hold what JSON does not: it is then no copy of a text.
    return ''
  }
}

/** Two verdicts may agree by chance in a flag or a number; in their words they do not. */
function hasText(value: unknown): boolean {
  return isObject(value) && Object.values(value).some((each) => typeof each === 'string' && each.trim().length > 0)
}
