/** Words that change who serves a model or when it was frozen, not which model it is; stripped from the end, repeatedly. */
const ENDINGS: readonly RegExp[] = [
  /@[\w-]+$/, // Vertex: claude-sonnet-4-5@20250929
  /:[\w.-]+$/, // OpenRouter :free, Bedrock v1:0, Ollama :latest
  /-(19|20)\d\d-?[01]\d-?[0-3]\d$/, // 2025-08-07, 20250929
  /-[01]\d-(19|20)\d\d$/, // 09-2025
  /-[01]\d[0-3]\d$/, // 0613
  /-00\d$/, // Gemini 001, 002
  /-v\d+$/, // Bedrock v1
  /-latest$/,
  /-0$/, // claude-sonnet-4-0 is the alias of claude-sonnet-4-<date>
]
const REGION = /^(us|eu|apac|ap|jp|au|ca|sa|us-gov|global)\./
const VENDOR = /^(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|openai|qwen|writer|zai)\./

/** The model without vendor path, region, vendor, date and version; its words in lower case. */
function words(name: string): string[] {
  // models/…, publishers/google/models/…, openai/…, arn:…/…
  let bare = name.trim().toLowerCase().split('/').at(-1) ?? ''
  bare = bare.replace(REGION, '').replace(VENDOR, '')
  for (let before = ''; before !== bare; ) {
    before = bare
    for (const ending of ENDINGS) bare = bare.replace(ending, '')
  }
  return bare.split(/[-._\s]+/).filter((word) => word !== '')
}

/**
 * Whether a served name is the requested model, but for date, version, region and vendor affixes. The order of the words
 * is not compared: gateways write `claude-4.5-sonnet` for `claude-sonnet-4-5`.
 */
export function isSameModel(requested: string, served: string): boolean {
  return requested === served || words(requested).sort().join('-') === words(served).sort().join('-')
}

/** Names that a provider points at another model without notice: `…-latest`, an undated `…-preview`, a router. */
export function isFloating(name: string): boolean {
  return /(^|[-:@/])(latest|preview|exp|experimental|beta|auto|default)$/i.test(name.trim())
}

const FAMILIES: readonly (readonly [pattern: RegExp, family: string])[] = [
  [/^(gpt|chatgpt|o\d|codex)/, 'gpt'],
  [/^claude/, 'claude'],
  [/^(gemini|gemma)/, 'gemini'],
  [/^(meta|llama)/, 'llama'],
  [/^(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral)/, 'mistral'],
  [/^(qwen|qwq)/, 'qwen'],
]

/** The family whose members tend to prefer one another's answers; the first word where no rule names it. */
export function modelFamily(name: string): string {
  const [first = name.toLowerCase()] = words(name)
  return FAMILIES.find(([pattern]) => pattern.test(first))?.[1] ?? first
}
