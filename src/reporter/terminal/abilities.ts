type Environment = { readonly [name: string]: string | undefined }

/** A switch of the environment that is on: `CI=false` and `CI=0` are off. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

/** Colour goes to terminals only; any text in NO_COLOR forbids it (no-color.org). */
export function wantsColor(
  stream: { readonly isTTY?: boolean; hasColors?(env?: object): boolean },
  env: Environment,
): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && stream.hasColors?.(env) === true
}

/** Lines and dots beyond ASCII: not on a dumb terminal, not in a locale that names another encoding. */
export function unicodeTerminal(platform: NodeJS.Platform, env: Environment): boolean {
  if (env.TERM === 'dumb') return false
  if (platform === 'win32') return isSet(env.WT_SESSION) || env.TERM_PROGRAM === 'vscode' || isSet(env.CI)
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || 'UTF-8'
  return /utf-?8/i.test(locale) || isSet(env.CI)
}
