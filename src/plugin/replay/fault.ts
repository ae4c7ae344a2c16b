import type { ExchangeFault } from '../../core/traffic/exchange.ts'
import { type AnsweredFault, socketError } from './call.ts'

/** Said by the system or TLS before a connection stood. */
const CONNECT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
])

/** A live request that got no response, as it is written down. */
export function faultOf(error: unknown, aborted: boolean): ExchangeFault {
  const at = innermost(error)
  const code = textOf(Reflect.get(at, 'code')) ?? (aborted ? 'ABORT_ERR' : 'ERR_UPSTREAM')
  const message = at.message
  if (aborted) return { kind: 'fault', phase: 'aborted', code: 'ABORT_ERR', message }
  const syscall = Reflect.get(at, 'syscall')
  const connecting =
    syscall === 'connect' || syscall === 'getaddrinfo' || CONNECT_CODES.has(code) || /^ERR_(TLS|SSL)_/.test(code)
  return { kind: 'fault', phase: connecting ? 'connect' : 'headers', code, message }
}

/** What a live call that got no response gives its client. */
export function faultAnswer(signal: AbortSignal, fault: ExchangeFault | null = null): AnsweredFault {
  return { kind: 'fault', error: signal.aborted || fault === null ? abortError(signal.reason) : errorOf(fault) }
}

/** What a client that did not abort itself is told when its cell did: an abort, which no SDK retries. */
function abortError(reason: unknown): Error {
  return reason instanceof Error && reason.name === 'AbortError'
    ? reason
    : new DOMException(reason instanceof Error ? reason.message : 'This operation was aborted', 'AbortError')
}

/** A fault as the client is to see it, live or replayed. */
export function errorOf({ phase, code, message }: ExchangeFault): Error {
  return phase === 'aborted' ? new DOMException(message, 'AbortError') : socketError(code, message)
}

/** Several addresses were tried: the first one's error stands for all, where the whole has no message of its own. */
function innermost(error: unknown): Error {
  if (error instanceof AggregateError && error.message === '' && error.errors[0] instanceof Error)
    return error.errors[0]
  return error instanceof Error ? error : new Error(String(error))
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
