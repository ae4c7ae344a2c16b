/** Characters that neither a regular expression nor any shell reads anything into, inside double quotes. */
const QUIET = /^[\p{L}\p{N} _/:@=,-]$/u

/**
 * The command that runs the cells of one scenario again, by the title of their tests (`variant > scenario > seed 0`).
 * Ids are text of others and the line is made to be pasted: whatever a shell, a regular expression or a CI log could
 * read something into is replaced by `.`, which matches it. Where the line has no room the pattern ends early; a head
 * of the id still finds it.
 */
export function rerunCommand(
  scenario: string,
  options: { readonly project: string; readonly width: number; readonly root?: string },
): string {
  const start = `npx vitest${root(options.root ?? '')} --project ${project(options.project)} -t "> `
  const end = ' > seed'
  let room = options.width - start.length - 1
  let pattern = ''
  for (const char of scenario) {
    const next = QUIET.test(char) ? char : '.'.repeat(char.length)
    // A letter beyond ASCII may be wide.
    room -= next < '\x7f' ? next.length : 2
    // `.` matches no line separator.
    if (room < 0 || /[\n\r\u2028\u2029]/.test(char)) return `${start}${pattern.trimEnd()}"`
    pattern += next
  }
  return `${start}${pattern}${room < end.length ? '' : end}"`
}

/** A root with a space or a quote is left to the user: half a quoted path helps nobody. */
function root(path: string): string {
  return /^[\w./-]+$/.test(path) ? ` --root ${path}` : ''
}

/** `--project` takes `*` for what must not reach a shell. */
function project(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `"${name.slice(0, 20).replace(/[^\w.-]+/g, '*')}*"`
}
