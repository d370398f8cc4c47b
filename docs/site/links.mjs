// Links of Markdown as GitHub understands them.
import path from 'node:path'

const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/|#)/i

/** Returns what GitHub calls a heading in links: small letters, digits and hyphens; a blank becomes a hyphen. */
export function slug(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replace(/ /g, '-')
}

/** Returns the path of the checkout that a link of a page names, or null if the link leaves the checkout. */
export function target(page, link) {
  if (ELSEWHERE.test(link)) {
    return null
  }
  const named = decodeURI(link.replace(/#.*$/, ''))
  return path.posix.join(path.posix.dirname(page), named)
}

/**
 * A rule of markdown-it: links between files of the checkout become links between pages of the site. Pages have the folders
 * of their files, so that relative links name the same files.
 */
export function checkoutLinks(checkout) {
  return md => md.core.ruler.push('checkout-links', state => {
    for (const token of state.tokens.flatMap(block => block.children ?? [])) {
      const link = token.type === 'link_open' ? token.attrGet('href') : null
      const file = link === null ? null : target(state.env.relativePath, link)
      if (file !== null) {
        token.attrSet('href', checkout.address(file) + (/#.*$/.exec(link)?.[0] ?? ''))
      }
    }
  })
}
