/** What a picture, a sound or a file in a request weighs, in tokens. */
export interface MediaTokens {
  /** As most models count it. */
  readonly input: number
  /** Rather more than any model we know of would count. */
  readonly most: number
}

type Kind = 'picture' | 'pcm' | 'sound' | 'film' | 'document' | 'unknown'

/**
 * Tokens of one, and of a byte. A picture is counted by its pixels, which its bytes do not tell: some 1,600 tokens at
 * most for many models, up to 5,000 for the newest. A sound is 10 to 32 tokens a second: 16 KB of telephone-grade PCM,
 * 750 bytes of the thinnest compression. Film has one picture a second. A compressed page has less than a token a byte.
 */
const WEIGHTS: { readonly [kind in Kind]: { readonly one: number; readonly byte: number; readonly mostByte: number } } =
  {
    picture: { one: 1_600, byte: 0, mostByte: 0 },
    pcm: { one: 0, byte: 1 / 1_000, mostByte: 1 / 250 },
    sound: { one: 0, byte: 1 / 250, mostByte: 1 / 24 },
    film: { one: 0, byte: 1 / 500, mostByte: 1 / 20 },
    document: { one: 1_600, byte: 1 / 25, mostByte: 1 },
    unknown: { one: 1_600, byte: 0, mostByte: 1 / 2 },
  }
const MOST_OF_A_PICTURE = 6_000

/** First bytes, and what follows them. */
const BEGINNINGS: readonly (readonly [pattern: RegExp, kind: Kind])[] = [
  [/^(\x89PNG|\xff\xd8\xff|GIF8|BM|II\*\0|MM\0\*)/s, 'picture'],
  [/^RIFF.{4}WEBP/s, 'picture'],
  [/^.{4}ftyp(avif|heic|heix|mif1)/s, 'picture'],
  [/^RIFF.{4}WAVE/s, 'pcm'],
  [/^(ID3|OggS|fLaC|\xff[\xe2-\xff])/s, 'sound'],
  [/^.{4}ftypM4A/s, 'sound'],
  [/^(.{4}ftyp|\x1a\x45\xdf\xa3|RIFF.{4}AVI )/s, 'film'],
  [/^(%PDF|PK\x03\x04)/s, 'document'],
]
const HEAD_BYTES = 16

/** @param size of all of it, where `bytes` is its beginning alone */
export function mediaTokens(bytes: Uint8Array, size = bytes.length): MediaTokens {
  const head = String.fromCharCode(...bytes.subarray(0, HEAD_BYTES))
  const kind = BEGINNINGS.find(([pattern]) => pattern.test(head))?.[1] ?? 'unknown'
  const { one, byte, mostByte } = WEIGHTS[kind]
  const input = Math.ceil(one + size * byte)
  return { input, most: kind === 'picture' ? MOST_OF_A_PICTURE : Math.max(input, Math.ceil(size * mostByte)) }
}

/** A `data:` address of any length, base64 that is too long to be a word, and the address of something elsewhere. */
const MEDIA =
  /data:[\w.+/-]+(?:;[\w.=-]+)*;base64,([\w+/-]+={0,2})|([\w+/-]{2000,}={0,2})|"(?:url|image_url|file_url|fileUri|file_uri)"\s*:\s*"https?:[^"\s]+"/g
const ELSEWHERE: MediaTokens = { input: WEIGHTS.picture.one, most: MOST_OF_A_PICTURE }

/** A text without the pictures, sounds and files in it, and these. */
export function withoutMedia(text: string): { readonly rest: string; readonly media: readonly MediaTokens[] } {
  const media: MediaTokens[] = []
  const rest = text.replace(MEDIA, (_, inAddress?: string, bare?: string) => {
    const base64 = (inAddress ?? bare)?.replace(/=+$/, '')
    media.push(
      base64 === undefined
        ? ELSEWHERE
        : mediaTokens(Buffer.from(base64.slice(0, 32), 'base64'), Math.floor((base64.length * 3) / 4)),
    )
    return ''
  })
  return { rest, media }
}
