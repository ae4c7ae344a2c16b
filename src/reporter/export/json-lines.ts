/** What a terminal, a viewer or a CI runner acts upon, anywhere in a line of JSON; there it can only stand in strings. */
const ACTIVE = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|#(?=#)/g

/**
 * A record as a line of JSON: the same value as the JSON given. What would act where it is printed is written as an escape
 * of JSON, so that nothing is lost.
 */
export function jsonLineOf(json: string): string {
  return `${json.replace(ACTIVE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}
