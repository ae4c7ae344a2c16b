/** How a provider is asked whether it serves a model, without buying anything. */
interface Models {
  readonly base: string
  /** The variable with which the provider's SDK sends its calls elsewhere, and what that lacks of `base`. */
  readonly elsewhere?: { readonly variable: string; readonly path: string }
  /** Any of them. */
  readonly keys: readonly string[]
  readonly headers: (key: string) => readonly (readonly [name: string, value: string])[]
}

const bearer = (key: string) => [['authorization', `Bearer ${key}`]] as const

/** Providers that answer for one model at `<base>/<model>` and check the key there. */
const PROVIDERS: { readonly [provider: string]: Models } = {
  openai: {
    base: 'https://api.openai.com/v1/models',
    elsewhere: { variable: 'OPENAI_BASE_URL', path: '/models' },
    keys: ['OPENAI_API_KEY'],
    headers: bearer,
  },
  anthropic: {
    base: 'https://api.anthropic.com/v1/models',
    elsewhere: { variable: 'ANTHROPIC_BASE_URL', path: '/v1/models' },
    keys: ['ANTHROPIC_API_KEY'],
    headers: (key) => [
      ['x-api-key', key],
      ['anthropic-version', '2023-06-01'],
    ],
  },
  google: {
    base: 'https://generativelanguage.googleapis.com/v1beta/models',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    headers: (key) => [['x-goog-api-key', key]],
  },
  groq: { base: 'https://api.groq.com/openai/v1/models', keys: ['GROQ_API_KEY'], headers: bearer },
  mistral: { base: 'https://api.mistral.ai/v1/models', keys: ['MISTRAL_API_KEY'], headers: bearer },
  xai: { base: 'https://api.x.ai/v1/models', keys: ['XAI_API_KEY'], headers: bearer },
  cerebras: { base: 'https://api.cerebras.ai/v1/models', keys: ['CEREBRAS_API_KEY'], headers: bearer },
  cohere: { base: 'https://api.cohere.com/v1/models', keys: ['COHERE_API_KEY', 'CO_API_KEY'], headers: bearer },
}

export const COVERED: readonly string[] = Object.keys(PROVIDERS)

export type ModelAddress =
  | { readonly url: string; readonly headers: readonly (readonly [name: string, value: string])[] }
  /** Why nobody can be asked. */
  | { readonly unasked: string }

/** Where the model of a lane `provider/model` is asked for. */
export function modelAddress(lane: string, env: { readonly [name: string]: string | undefined }): ModelAddress {
  const at = lane.indexOf('/')
  const name = lane.slice(0, Math.max(at, 0))
  const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined
  if (provider === undefined) return { unasked: `no model of ${COVERED.join(', ')}` }
  const { base, elsewhere, keys, headers } = provider
  const key = keys.map((name) => env[name] ?? '').find((value) => value !== '')
  if (key === undefined) return { unasked: `${keys.join(' or ')} is not set` }
  const other = elsewhere === undefined ? '' : (env[elsewhere.variable] ?? '')
  const models = other === '' ? base : `${other.replace(/\/+$/, '')}${elsewhere?.path ?? ''}`
  const url = `${models}/${encodeURIComponent(lane.slice(at + 1))}`
  return URL.canParse(url) ? { url, headers: headers(key) } : { unasked: `${url} is no address` }
}
