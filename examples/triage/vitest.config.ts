import { defineConfig } from 'vitest/config'
import { evals } from 'vitest-campaign/plugin'

// The replies of this example were recorded from a local stand-in (stand-in.mjs), and a recording is found by the URL of
// its request: replay has to ask at the same address, although nothing listens there. Leave these lines out for real
// providers, whose addresses the SDKs know.
const STAND_IN = 'http://127.0.0.1:4517'

export default defineConfig({
  test: {
    // A cell waits for a model. Below this Vitest lists every one of them as a slow test.
    slowTestThreshold: 10_000,
    projects: [
      evals({
        // So that this example can buy nothing. Without this line a laptop records what is new, and CI only replays.
        mode: 'replay',
        capacity: {
          cells: 16,
          lanes: [
            { match: 'openai/*', concurrency: 8 },
            { match: '*', concurrency: 4 },
          ],
        },
        test: { env: { OPENAI_BASE_URL: `${STAND_IN}/v1`, ANTHROPIC_BASE_URL: STAND_IN } },
      }),
    ],
  },
})
