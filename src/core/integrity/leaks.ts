import type { Body } from '../traffic/exchange.ts'
import type { CellEvidence, Find } from './check.ts'
import { firstOf, namedCall } from './named.ts'

/** Did something go where it must not: a secret to the disk, a request to a strange host, the canary to the model? */
export function checkLeaks({ calls, secrets, routes, canary, output }: CellEvidence, find: Find): void {
  if (secrets.length > 0) {
    find(
      'secret_in_capture',
      `the captured traffic still holds a secret after redaction (rule ${firstOf(secrets)}): add a redaction rule for where it stands; nothing was written`,
    )
  }
  if (routes !== null) {
    const strays = calls.filter(
      ({ role, source, request }) =>
        role === 'subject' && source !== 'mocked' && !routes.includes(originOf(request.url)),
    )
    if (strays.length > 0) {
      find(
        'route_not_allowed',
        `run called ${firstOf(strays.map(({ request }) => originOf(request.url)))}, which \`routes\` does not list: add the origin, or keep the subject from calling it`,
      )
    }
  }
  if (canary === null) return
  const sent = calls.filter(
    ({ reading, source, request }) => reading !== null && source !== 'mocked' && holds(textOf(request.body), canary),
  )
  if (sent.length > 0) {
    find(
      'canary_leak',
      `the scenario's canary stands in a provider request (${firstOf(sent.map(namedCall))}): the subject sends what it must not know`,
    )
  }
  if (output !== null && holds(output, canary)) {
    find('canary_leak', "the scenario's canary stands in the output: the subject had access to what it must not know")
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

function textOf(body: Body): string {
  if (body === null) return ''
  return 'text' in body ? body.text : Buffer.from(body.base64, 'base64').toString('utf8')
}

/** Inside JSON a quote, a backslash or a line break of the canary is escaped, and other letters may be. */
function holds(text: string, canary: string): boolean {
  if (text.includes(canary) || text.includes(JSON.stringify(canary).slice(1, -1))) return true
  if (!text.includes('\\u')) return false
  const plain = text.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return plain.includes(canary)
}
