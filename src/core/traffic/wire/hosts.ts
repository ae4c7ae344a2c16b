/** Who stands behind a host. */
export interface Host {
  /** Our name of the provider: the first half of a lane. */
  readonly provider: string
  /** Id in the price list; null where the list knows no such provider. */
  readonly priceId: string | null
}

/** Host pattern, our name, id in the price list (null: not listed). A pattern matches the whole host name. */
const HOSTS: readonly (readonly [pattern: RegExp, provider: string, priceId: string | null])[] = [
  [/^api\.openai\.com$|^[a-z]+\.api\.openai\.com$/, 'openai', 'openai'],
  [/^api\.anthropic\.com$/, 'anthropic', 'anthropic'],
  [/^generativelanguage\.googleapis\.com$/, 'google', 'google'],
  [
    /^(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$|^aiplatform\.[a-z]+\.rep\.googleapis\.com$/,
    'google-vertex',
    'google',
  ],
  [
    /\.openai\.azure\.com$|\.services\.ai\.azure\.com$|\.cognitiveservices\.azure\.com$|\.azure-api\.net$/,
    'azure',
    'azure',
  ],
  [/^bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com$|^bedrock-mantle\.[a-z0-9-]+\.api\.aws$/, 'bedrock', 'aws'],
  [/^(?:api\.)?openrouter\.ai$/, 'openrouter', 'openrouter'],
  [/^api\.groq\.com$/, 'groq', 'groq'],
  [/^(?:api|codestral)\.mistral\.ai$/, 'mistral', 'mistral'],
  [/^api\.deepseek\.com$/, 'deepseek', 'deepseek'],
  [/^api\.cerebras\.ai$/, 'cerebras', 'cerebras'],
  [/^api\.z\.ai$|^open\.bigmodel\.cn$/, 'zai', 'zai'],
  [/^api\.x\.ai$|^[a-z0-9-]+\.api\.x\.ai$/, 'xai', 'x-ai'],
  [/^api\.together\.(?:xyz|ai)$/, 'together', 'together'],
  [/^api\.fireworks\.ai$/, 'fireworks', 'fireworks'],
  [/^api\.moonshot\.(?:ai|cn)$/, 'moonshot', 'moonshotai'],
  [/^api\.perplexity\.ai$/, 'perplexity', 'perplexity'],
  [/^api\.minimaxi?\.(?:com|io|chat)$/, 'minimax', 'minimax'],
  [/^api\.novita\.ai$/, 'novita', 'novita'],
  [/^api\.cohere\.(?:com|ai)$/, 'cohere', 'cohere'],
  [/^api\.voyageai\.com$/, 'voyage', 'voyageai'],
  [/^api\.inference\.crusoecloud\.com$/, 'crusoe', null],
  [/^(?:[a-z]+\.)?inference\.heroku\.com$/, 'heroku', null],
  [/^(?:api\.)?ollama\.com$/, 'ollama', null],
  [/^models\.(?:github\.ai|inference\.ai\.azure\.com)$/, 'github', null],
  [/^api\.githubcopilot\.com$/, 'github-copilot', null],
  [/^integrate\.api\.nvidia\.com$/, 'nvidia', null],
  [/^api\.sambanova\.ai$/, 'sambanova', null],
  [/^api\.hyperbolic\.xyz$/, 'hyperbolic', null],
  [/^api\.deepinfra\.com$/, 'deepinfra', null],
  [/^dashscope(?:-intl|-us)?\.aliyuncs\.com$/, 'alibaba', null],
  [/^ai-gateway\.vercel\.sh$/, 'vercel', null],
]

/** The provider of a URL; null for loopback and every host that no table row names. */
export function hostOf(url: URL): Host | null {
  const name = url.hostname.toLowerCase()
  // The router names the provider behind it in the first path segment of its older form.
  if (name === 'router.huggingface.co') {
    const behind = /^\/([a-z0-9-]+)\/v1\//.exec(url.pathname)?.[1]
    return {
      provider: 'huggingface',
      priceId: behind === undefined ? null : `huggingface_${behind.replaceAll('-', '_')}`,
    }
  }
  for (const [pattern, provider, priceId] of HOSTS) if (pattern.test(name)) return { provider, priceId }
  return null
}

/** The price list's id of a provider by our name of it: null where the list has none, undefined for a name we do not know. */
export function priceIdOf(provider: string): string | null | undefined {
  return HOSTS.find(([, name]) => name === provider)?.[2]
}

/** True for the hosts of this machine. */
export function isLoopback(url: URL): boolean {
  const name = url.hostname.toLowerCase()
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name)
}

/** True for the host of a known model provider; a URL that does not parse has none. */
export function isProviderHost(url: string | URL): boolean {
  if (typeof url !== 'string') return hostOf(url) !== null
  return URL.canParse(url) && hostOf(new URL(url)) !== null
}
