import { systemClock } from './clock.ts'
import { directFetch } from './direct.ts'
import { createPlayer, type RecordingSource } from './player.ts'
import { refusal } from './refusal.ts'
import { served } from './replay.ts'

/**
 * A `fetch` that answers from a recording, for SDKs that take one (`new OpenAI({ fetch })`) in ordinary tests. Answers,
 * chunks and errors are the recorded ones; each is given once. A request that is not recorded is answered with a 424
 * that SDKs do not retry, and never reaches a network.
 *
 * @param recording a recording, or the path of its file
 * @throws RecordingError for a file that is no recording
 */
export function createReplayFetch(recording: RecordingSource): typeof globalThis.fetch {
  const play = createPlayer(recording)
  return directFetch(async (call) => {
    const found = await play(call)
    if (!('miss' in found)) return served(found, call.url, call.method, call.signal, systemClock)
    const what =
      found.miss === 'unknown'
        ? 'the recording does not hold it: another address, or another body'
        : `the recording holds it ${found.recorded} ${found.recorded === 1 ? 'time' : 'times'}, and it was served as often`
    return refusal(
      call.url,
      'replay_miss',
      `vitest-campaign: ${call.method} ${new URL(call.url).origin} was not sent: ${what}.`,
    )
  }, globalThis.fetch)
}
