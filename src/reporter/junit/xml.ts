import { printable } from '../../core/traffic/hostile.ts'

/** What XML 1.0 cannot hold in any spelling (section 2.2), beyond what `printable` escapes already. */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu

/** Read anywhere in the output of a test by GitLab and by Jenkins' plugin: names a file to attach. */
const ATTACHMENT = /\[\[(?=ATTACHMENT\|)/g

const ENTITIES: { readonly [char: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Text of others as character data of any XML 1.0 document. */
export function characters(value: string, max?: number): string {
  return shown(value, max).replace(/[&<>\r]/g, (char) => ENTITIES[char] ?? char)
}

type Attributes = { readonly [name: string]: string | null }

/** An element; attributes that are null are left out. `content` is markup already. */
export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .flatMap(([key, value]) => (value === null ? [] : ` ${key}="${attribute(value)}"`))
    .join('')
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`
}

function attribute(value: string): string {
  return shown(value).replace(/[&<>"\t\n\r]/g, (char) => ENTITIES[char] ?? char)
}

function shown(value: string, max?: number): string {
  return printable(value, max === undefined ? {} : { max })
    .replace(FORBIDDEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(ATTACHMENT, '[ [')
}
