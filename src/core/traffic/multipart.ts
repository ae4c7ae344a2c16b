/** One part of a multipart body. */
export interface Part {
  /** Lower-case names, sorted: the order of a part's headers means nothing. */
  readonly headers: readonly string[]
  readonly content: Uint8Array
}

/** The parts of a multipart body (RFC 2046) without their boundary, or null where it is not well formed. */
export function readParts(bytes: Buffer, contentType: string): Part[] | null {
  const found = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) return null
  const mark = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // The first mark may stand at the very beginning: give it the line end that the others have.
  const body = Buffer.concat([Buffer.from('\r\n'), bytes])
  const parts: Part[] = []
  let at = body.indexOf(mark)
  while (at !== -1) {
    const after = at + mark.length
    if (body.toString('latin1', after, after + 2) === '--') return parts
    const lineEnd = body.indexOf('\r\n', after)
    const next = body.indexOf(mark, after)
    if (lineEnd === -1 || next === -1) return null
    const part = readPart(body.subarray(lineEnd, next))
    if (part === null) return null
    parts.push(part)
    at = next
  }
  return null
}

/** From the line end before the first header to the line end before the next mark. */
function readPart(part: Buffer): Part | null {
  const blank = part.indexOf('\r\n\r\n')
  if (blank === -1) return null
  const headers = part
    .toString('utf8', 2, blank)
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()))
    .sort()
  return { headers, content: part.subarray(blank + 4) }
}
