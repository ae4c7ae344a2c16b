import { PLACEHOLDER_KEY } from '../../core/traffic/redact.ts'

interface KeyVariables {
  /** Given the placeholder when neither they nor `unless` are set. */
  readonly fill: readonly string[]
  /** Other ways to authenticate with the same SDK: a placeholder beside one of them would displace it. */
  readonly unless?: readonly string[]
  /** Host names these keys go to. */
  readonly hosts: RegExp
}

const PROVIDER_KEYS: readonly KeyVariables[] = [
  { fill: ['OPENAI_API_KEY'], unless: ['OPENAI_ADMIN_KEY'], hosts: /(^|\.)openai\.com$/ },
  // AzureOpenAI refuses a key beside a token provider, so a placeholder could break a client that needs none.
  { fill: ['AZURE_API_KEY'], unless: ['AZURE_OPENAI_API_KEY'], hosts: /\.azure\.com$/ },
  {
    fill: ['ANTHROPIC_API_KEY'],
    unless: ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE'],
    hosts: /(^|\.)anthropic\.com$/,
  },
  // GOOGLE_API_KEY wins over GEMINI_API_KEY where both are set, so it is never filled.
  {
    fill: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    unless: ['GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI'],
    hosts: /\.googleapis\.com$/,
  },
  { fill: ['MISTRAL_API_KEY'], hosts: /(^|\.)mistral\.ai$/ },
  { fill: ['GROQ_API_KEY'], hosts: /(^|\.)groq\.com$/ },
  { fill: ['XAI_API_KEY'], hosts: /(^|\.)x\.ai$/ },
  { fill: ['DEEPSEEK_API_KEY'], hosts: /(^|\.)deepseek\.com$/ },
  { fill: ['CEREBRAS_API_KEY'], hosts: /(^|\.)cerebras\.ai$/ },
  { fill: ['COHERE_API_KEY', 'CO_API_KEY'], hosts: /(^|\.)cohere\.(?:com|ai)$/ },
  { fill: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'], hosts: /(^|\.)together\.(?:xyz|ai)$/ },
  { fill: ['FIREWORKS_API_KEY'], hosts: /(^|\.)fireworks\.ai$/ },
  { fill: ['OPENROUTER_API_KEY'], hosts: /(^|\.)openrouter\.ai$/ },
  { fill: ['PERPLEXITY_API_KEY'], hosts: /(^|\.)perplexity\.ai$/ },
  { fill: ['VOYAGE_API_KEY'], hosts: /(^|\.)voyageai\.com$/ },
  { fill: ['MOONSHOT_API_KEY'], hosts: /(^|\.)moonshot\.(?:ai|cn)$/ },
  { fill: ['NVIDIA_API_KEY'], hosts: /(^|\.)nvidia\.com$/ },
  { fill: ['AI_GATEWAY_API_KEY'], unless: ['VERCEL_OIDC_TOKEN'], hosts: /^ai-gateway\.vercel\.sh$/ },
]

/**
 * Names of the provider keys that are to be given `PLACEHOLDER_KEY`: those that are unset or empty, where no other
 * credential of the same SDK is set.
 */
export function placeholderKeys(env: { readonly [name: string]: string | undefined }): readonly string[] {
  const unset = (name: string) => (env[name] ?? '') === ''
  return PROVIDER_KEYS.flatMap(({ fill, unless = [] }) =>
    // Two names of one key: where one is set, the SDK that reads it works, and the other may belong to another SDK.
    unless.every(unset) ? fill.filter(unset) : [],
  )
}

/** On a host we do not know, the header of the SDK tells whose key it carries. */
const KEY_HEADERS: { readonly [header: string]: string } = {
  authorization: 'OPENAI_API_KEY',
  'x-api-key': 'ANTHROPIC_API_KEY',
  'x-goog-api-key': 'GEMINI_API_KEY',
}

/**
 * The variables that stand behind a placeholder found in a request that is about to go live; none when it holds none.
 *
 * @param filled the variables that got the placeholder: `WorkerSettings.placeholderKeys`
 */
export function placeholdersIn(
  request: { readonly url: string; readonly headers: readonly (readonly [string, string])[] },
  filled: readonly string[],
): readonly string[] {
  const carries =
    request.url.includes(PLACEHOLDER_KEY) ||
    request.headers.some(([name, value]) => value.includes(PLACEHOLDER_KEY) || isBasicPlaceholder(name, value))
  if (!carries) return []
  const { hostname } = new URL(request.url)
  const own =
    PROVIDER_KEYS.find(({ hosts }) => hosts.test(hostname))?.fill.filter((name) => filled.includes(name)) ?? []
  if (own.length > 0) return own
  const carriers = request.headers
    .filter(([, value]) => value.includes(PLACEHOLDER_KEY))
    .map(([name]) => KEY_HEADERS[name.toLowerCase()])
  const byHeader = filled.filter((variable) => carriers.includes(variable))
  if (byHeader.length > 0) return byHeader
  return filled.length > 0 ? filled : [PLACEHOLDER_KEY]
}

function isBasicPlaceholder(name: string, value: string): boolean {
  if (name !== 'authorization' || !/^basic /i.test(value)) return false
  return Buffer.from(value.slice(6), 'base64').toString('latin1').includes(PLACEHOLDER_KEY)
}
