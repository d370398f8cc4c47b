// What VitePress does not check: headings that links name, and loads from other hosts.
import fs from 'node:fs'
import path from 'node:path'

const ID = /\sid="([^"]*)"/g
const HREF = /<a\s[^>]*?href="([^"]*)"/g
const LOAD = /<(?:link|script|img|iframe|source|object)\s[^>]*?(?:href|src|srcset|data)="([a-z][a-z0-9+.-]*:\/\/[^"]*|\/\/[^"]*)"/gi
const STYLE_LOAD = /(?:url\(|@import)\s*["']?((?:https?:)?\/\/[^"')]*)/g

/** Returns what is wrong with a site, one line for each fault. */
export function faults(site) {
  const pages = new Map(filesOf(site, '.html').map(file => [file, fs.readFileSync(path.join(site, file), 'utf8')]))
  const headings = new Map([...pages].map(([file, html]) => [file, new Set([...html.matchAll(ID)].map(([, id]) => unescaped(id)))]))
  const found = []
  for (const [file, html] of pages) {
    for (const [, link] of html.matchAll(HREF)) {
      const fault = faultOf(file, unescaped(link), headings, site)
      if (fault !== null) {
        found.push(`${file}: ${link} ${fault}`)
      }
    }
    for (const [, load] of html.matchAll(LOAD)) {
      found.push(`${file}: loads ${load}`)
    }
  }
  for (const file of filesOf(site, '.css')) {
    for (const [, load] of fs.readFileSync(path.join(site, file), 'utf8').matchAll(STYLE_LOAD)) {
      found.push(`${file}: loads ${load}`)
    }
  }
  return found
}

function faultOf(file, link, headings, site) {
  const url = new URL(link, `http://site/${file}`)
  // the Javadoc tool itself checks the links of the Javadoc, which is copied later
  if (url.host !== 'site' || url.pathname.startsWith('/api/')) {
    return null
  }
  const named = decodeURIComponent(url.pathname.slice(1)).replace(/(^|\/)$/, '$1index.html')
  if (!fs.existsSync(path.join(site, named))) {
    return 'leads to no file'
  }
  const heading = decodeURIComponent(url.hash.slice(1))
  return heading === '' || !headings.has(named) || headings.get(named).has(heading) ? null : 'leads to no heading'
}

function filesOf(folder, end) {
  return fs.readdirSync(folder, { recursive: true }).map(file => file.replaceAll('\\', '/')).filter(file => file.endsWith(end))
}

function unescaped(text) {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
