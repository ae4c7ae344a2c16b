import type { CheckedCall, LooseRequest } from './check.ts'

/** How a message names a request: `POST https://api.openai.com/v1/responses`, without the query. */
export function named({ method, url }: Pick<LooseRequest, 'method' | 'url'>): string {
  return `${method} ${url.split('?')[0]}`
}

export const namedCall = ({ request }: CheckedCall): string => named(request)

/** `1 call`, `2 calls`. */
export const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

/** The first of a list for a message, and how many more there are. */
export function firstOf(names: readonly string[]): string {
  const distinct = [...new Set(names)]
  const more = distinct.length - 1
  return `${distinct[0] ?? ''}${more > 0 ? ` and ${more} more` : ''}`
}
