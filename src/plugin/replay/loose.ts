import { type Answer, type Call, sentHeaders } from './call.ts'
import { missingKeyMessage } from './carry.ts'
import { errorOf, faultOf } from './fault.ts'
import { placeholdersIn } from './keys.ts'
import type { RecorderParts } from './parts.ts'
import { refusal } from './refusal.ts'
import { tee } from './stream.ts'
import { linkedController } from './wait.ts'

/** Answers a call made outside every cell: refused in replay mode, else carried and not recorded. */
export async function answerLoose(call: Call, { settings, redactor, upstream, clock }: RecorderParts): Promise<Answer> {
  const { method } = call
  const { url } = redactor.url(call.url)
  if (settings.policy === 'replay') {
    return refusal(
      call.url,
      'replay_miss',
      `vitest-campaign: ${method} ${url} was called outside every cell and was not sent: this run replays (${settings.policyReason}), and only cells have recordings. Make the call inside run or a scorer, or list its origin in \`passthrough\` if it is a local service.`,
    )
  }
  const missing = placeholdersIn(call, settings.placeholderKeys)
  if (missing.length > 0) return refusal(call.url, 'missing_key', missingKeyMessage(method, url, missing))
  const timeout = new AbortController()
  // No cell's deadline bounds this call.
  const timer = clock.after(settings.timeoutMs, () =>
    timeout.abort(new DOMException(`${method} ${url} took longer than ${settings.timeoutMs} ms`, 'TimeoutError')),
  )
  const controller = linkedController([call.signal, timeout.signal])
  const over = () => {
    timer.cancel()
    controller.unlink()
  }
  try {
    const bytes = await call.body()
    const { signal } = controller
    const response = await upstream.send({
      ...{ method, url: call.url, headers: sentHeaders(call), body: bytes, signal, via: call.via },
    })
    const { status, statusText, headers, body } = response
    if (body === null) over()
    return {
      kind: 'response',
      url: call.url,
      redirected: false,
      status,
      statusText,
      headers,
      body:
        body === null
          ? null
          : tee(body, { clock, signal, abort: () => controller.abort(), onEnd: over, retain: false }),
    }
  } catch (error) {
    over()
    return { kind: 'fault', error: errorOf(faultOf(error, controller.signal.aborted)) }
  }
}
