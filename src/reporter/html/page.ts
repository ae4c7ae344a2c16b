import { createHash } from 'node:crypto'
import { type Content, type Html, html, ownCode } from './markup.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

export interface Page {
  readonly title: string
  /** Below the title. */
  readonly about: Content
  readonly sections: readonly { readonly id: string; readonly name: string }[]
  readonly main: Content
  readonly footer: Content
}

const digest = (code: string): string => `'sha256-${createHash('sha256').update(code).digest('base64')}'`

/**
 * A whole page: nothing is loaded, and only this style and this script run. What a record says could be taken for
 * markup by a fault of this code alone, and even then no script and no style of its own would run and nothing leave.
 */
export function page({ title, about, sections, main, footer }: Page): Html {
  const policy = `default-src 'none'; style-src ${digest(STYLE)}; script-src ${digest(SCRIPT)}; img-src data:; base-uri 'none'; form-action 'none'`
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${ownCode(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<svg class="defs" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hb" width="6" height="6"/><line class="hl" x1="0" x2="0" y1="0" y2="6"/></pattern></defs></svg>
<header><h1>${title}</h1>${about}</header>
${sections.length === 0 ? null : html`<nav aria-label="Sections"><ul>${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>`}
<main id="main" tabindex="-1">
${main}</main>
<footer>${footer}</footer>
<script>${ownCode(SCRIPT)}</script>
</body>
</html>
`
}
