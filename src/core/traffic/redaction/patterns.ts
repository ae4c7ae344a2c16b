import type { Finder } from './spans.ts'

/** A secret known by its shape. */
export interface Pattern {
  readonly rule: string
  /** Texts of which one must be present for the pattern to match: what makes a body without secrets cheap. */
  readonly needles: readonly string[]
  /** Global. The first group, where there is one that took part, is the secret; else the whole match. */
  readonly pattern: RegExp
  /** Says no to a match that only looks like a secret. */
  readonly unless?: (match: string) => boolean
}

/**
 * A key begins where no letter or digit stands before it, unless that letter belongs to an escape (`\n`, `\u000a`,
 * `%20`). Base64 data is one long word, so random hits inside images and thinking signatures stay untouched.
 */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))`

const key = (rule: string, needles: readonly string[], source: string): Pattern => ({
  rule,
  needles,
  pattern: new RegExp(START + source, 'g'),
})

/** Credentials by shape, from the providers' published key formats. */
export const VALUE_PATTERNS: readonly Pattern[] = [
  key('anthropic-key', ['sk-ant-'], 'sk-ant-[A-Za-z0-9_-]{8,}'),
  key('openai-key', ['sk-', 'sess-', 'ek_'], '(?:sk-[A-Za-z0-9_-]{16,}|sess-[A-Za-z0-9]{24,}|ek_[A-Za-z0-9]{24,})'),
  key('google-key', ['AIza'], 'AIza[A-Za-z0-9_-]{35}'),
  key('google-token', ['ya29.'], String.raw`ya29\.[A-Za-z0-9_-]{20,}`),
  key('aws-access-key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}'),
  key('huggingface-token', ['hf_'], 'hf_[A-Za-z0-9]{20,}'),
  key(
    'github-token',
    ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    '(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,})',
  ),
  key('slack-token', ['xox'], 'xox[a-z]-[A-Za-z0-9-]{10,}'),
  key(
    'provider-key',
    ['gsk_', 'xai-', 'pplx-', 'csk-', 'nvapi-', 'r8_', 'tgp_v1_', 'glpat-', 'npm_', 'sk_live_', 'sk_test_', 'rk_live_'],
    '(?:gsk_[A-Za-z0-9]{32,}|xai-[A-Za-z0-9]{32,}|pplx-[A-Za-z0-9]{32,}|csk-[A-Za-z0-9]{32,}|nvapi-[A-Za-z0-9_-]{32,}|r8_[A-Za-z0-9]{32,}|tgp_v1_[A-Za-z0-9_-]{32,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,})',
  ),
  key('jwt', ['eyJ'], String.raw`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}`),
  {
    rule: 'bearer-token',
    needles: ['earer', 'EARER', 'asic '],
    pattern: /\b(?:[Bb]earer|BEARER|[Bb]asic)(?:\s|%20|\+){1,4}([A-Za-z0-9._~+/=-]{16,})/g,
    // Prose: "Bearer authentication-scheme". A word without a digit is a token only when no word is that long.
    unless: (match) => !/\d/.test(match) && match.length < 24,
  },
  {
    rule: 'aws-signature',
    needles: ['ignature=', 'Credential=', 'ecurity-Token=', 'ignature%3D'],
    pattern:
      /(?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|\bSignature|\bCredential)(?:=|%3D)([A-Za-z0-9%+/=._@-]{16,})/gi,
  },
  {
    rule: 'private-key',
    needles: ['PRIVATE KEY'],
    // Also a torn one, without its end. No quote: a match must not leave its JSON string.
    pattern:
      /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[^"]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?=")|$)/g,
  },
  {
    rule: 'url-credentials',
    needles: ['://'],
    pattern: /:\/\/([^\s/:@"'\\<>[\]]{0,200}:[^\s/@"'\\<>]{1,500})@/g,
  },
  {
    rule: 'query',
    needles: ['key=', 'token=', 'sig=', 'secret=', 'Key=', 'KEY='],
    pattern: /[?&](?:key|api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|sig)=([^&\s"'\\#<>]{8,})/gi,
    unless: (match) => match.includes('[redacted:'),
  },
]

/** Personal data by shape; opt-in, because cases are often about such data. */
export const PII_PATTERNS: readonly Pattern[] = [
  {
    rule: 'email',
    needles: ['@', '%40'],
    pattern: /[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9_])?(?:@|%40)[A-Za-z0-9](?:[A-Za-z0-9-]*\.)+[A-Za-z]{2,24}/g,
  },
  {
    rule: 'iban',
    needles: [],
    pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/g,
    unless: (m) => !isIban(m),
  },
  {
    rule: 'card',
    needles: [],
    pattern: /(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])/g,
    unless: (match) => !isCard(match),
  },
  { rule: 'us-ssn', needles: ['-'], pattern: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g },
  { rule: 'phone', needles: ['+'], pattern: /(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?!\d)/g },
]

/** Luhn, ISO/IEC 7812-1. */
function isCard(match: string): boolean {
  const digits = match.replace(/\D/g, '')
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const weighed = at % 2 === 0 ? digit : digit * 2
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0 && /[1-9]/.test(digits)
}

/** Check digits mod 97, ISO 13616. */
function isIban(match: string): boolean {
  const compact = match.replaceAll(' ', '')
  const moved = compact.slice(4) + compact.slice(0, 4)
  let rest = 0
  for (const char of moved)
    for (const digit of String(Number.parseInt(char, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}

/** Finds what the patterns match. */
export function findPatterns(patterns: readonly Pattern[]): Finder {
  const anywhere = patterns.filter(({ needles }) => needles.length === 0)
  // One look for all needles at once: most texts hold none, and a look for each costs more than all the rest.
  const anyNeedle = new RegExp(patterns.flatMap(({ needles }) => needles.map(escaped)).join('|') || '(?!)')
  return (text, found) => {
    for (const { rule, needles, pattern, unless } of anyNeedle.test(text) ? patterns : anywhere) {
      if (needles.length > 0 && !needles.some((needle) => text.includes(needle))) continue
      for (const match of text.matchAll(pattern)) {
        const secret = match[1] ?? match[0]
        if (secret === '' || unless?.(secret)) continue
        // A user's own pattern has its indices; in ours the group ends the match or a fixed mark follows it.
        const start =
          match[1] === undefined ? match.index : (match.indices?.[1]?.[0] ?? match.index + match[0].lastIndexOf(secret))
        found.push({ start, end: start + secret.length, rule })
      }
    }
  }
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
