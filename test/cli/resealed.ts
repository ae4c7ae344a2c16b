import { sealedLine } from '../../src/core/journal/sealed.ts'

/** Edited lines with checksums that fit again. */
export function resealed(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { crc: _, ...fields } = JSON.parse(line) as Record<string, unknown>
      return sealedLine(fields)
    })
    .join('')
}
