import { fileURLToPath } from 'node:url'

const FRAME = /^\s+at (?:.*? \()?((?:file:\/\/)?[^()\s][^()]*?:\d+:\d+)\)?$/
/** Where this file lies, with its siblings: frames of ours are no callers. */
const HERE = new URL('./', import.meta.url).href

/** `file:line:column` of the first frame of the user's own code; of any package where there is none. */
export function callerOf(stack: string): string {
  let ofPackage: string | null = null
  for (const line of stack.split('\n').slice(1)) {
    const at = FRAME.exec(line)?.[1]
    if (at === undefined || at.startsWith('node:')) continue
    const place = at.startsWith('file://') ? pathOf(at) : at
    if (at.startsWith(HERE) || place.startsWith(fileURLToPath(HERE))) continue
    if (!/[\\/]node_modules[\\/]/.test(place)) return place
    ofPackage ??= place
  }
  return ofPackage ?? 'Code whose stack does not say where it stands'
}

function pathOf(at: string): string {
  const [, url = at, position = ''] = /^(.*?)(:\d+:\d+)$/.exec(at) ?? []
  try {
    return `${fileURLToPath(url)}${position}`
  } catch {
    return at
  }
}
