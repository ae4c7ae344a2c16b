/** 0.121 is its last line that runs on Node 20. Two providers without a network; results go to its database, as always. */
export const promptfoo = {
  name: 'promptfoo',
  packages: ['promptfoo@0.121.20'],
  files: {
    'promptfooconfig.mjs': `
export default {
  description: 'noop',
  prompts: ['{{q}}'],
  providers: ['a', 'b'].map((label) => ({ id: () => label, label, callApi: async () => ({ output: 'yes' }) })),
  tests: Array.from({ length: Number(process.env.CELLS) / 2 }, (_, i) => ({
    vars: { q: 's' + i },
    assert: [{ type: 'equals', value: 'yes' }],
  })),
}`,
  },
  command: [
    'node_modules/promptfoo/dist/src/entrypoint.js',
    'eval',
    ...['-c', 'promptfooconfig.mjs', '-j', '1000'],
    ...['--no-cache', '--no-table', '--no-progress-bar', '--no-share'],
  ],
  env: {
    PROMPTFOO_CONFIG_DIR: 'home',
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
  },
  leftovers: ['home'],
  passed: (cells) => `${cells} passed`,
}
