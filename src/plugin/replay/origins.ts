/** A set of origins, compared as parsed URLs: `https://api.example.com` is no prefix of `https://api.example.com.evil`. */
export interface Origins {
  allows(url: URL): boolean
  allowsSocket(host: string, port: number): boolean
}

const DEFAULT_PORTS: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 }

/**
 * @param origins such as `https://api.example.com` or `http://localhost:8080`; a path is refused, it would promise more
 *   than an origin can say
 * @param option name of the option they come from, for the message
 * @throws TypeError for text that is no origin
 */
export function originsOf(origins: readonly string[], option: string): Origins {
  const urls = origins.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    if (url === null || url.hostname === '' || url.search !== '' || url.hash !== '' || !/^\/?$/.test(url.pathname)) {
      throw new TypeError(
        `\`${option}\` holds "${text}", which is no origin. Write it as "https://host" or "http://host:port".`,
      )
    }
    return { protocol: url.protocol, host: url.hostname, port: portOf(url) }
  })
  return {
    allows: (url) =>
      urls.some((it) => it.protocol === url.protocol && it.host === url.hostname && it.port === portOf(url)),
    allowsSocket: (host, port) => urls.some((it) => bare(it.host) === bare(host.toLowerCase()) && it.port === port),
  }
}

function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port)
}

/** `localhost` is spelt in four ways. */
function bare(host: string): string {
  const name = host.replace(/^\[|\]$/g, '')
  return name === '127.0.0.1' || name === '::1' ? 'localhost' : name
}
