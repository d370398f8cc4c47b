// The table of contents: docs/README.md is the only list of pages and their order.
import fs from 'node:fs'
import path from 'node:path'

const ROW = /^\|.*\]\(/
const LINK = /\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)/g

/**
 * Reads a page of headings and tables, such as docs/README.md.
 *
 * Returns one group for each heading of level two: its text, and the links of each row of the tables below.
 * A link is the path of a file or folder of the checkout.
 */
export function readMap(text, folder) {
  const groups = []
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) {
      groups.push({ text: line.slice(3).trim(), items: [] })
    } else if (groups.length > 0 && ROW.test(line)) {
      for (const [, label, target, heading] of line.matchAll(LINK)) {
        groups.at(-1).items.push({ text: label, target: path.posix.join(folder, target), heading: heading ?? '' })
      }
    }
  }
  const filled = groups.filter(group => group.items.length > 0)
  if (filled.length === 0) {
    throw new Error(`the map of the pages has no heading with a table of links below`)
  }
  return filled
}

/** Returns the sidebar of VitePress for the map that a checkout has. */
export function sidebar(checkout) {
  const map = readMap(fs.readFileSync(path.join(checkout.root, 'docs/README.md'), 'utf8'), 'docs')
  return map.map(group => ({
    text: group.text,
    items: group.items.map(item => ({ text: item.text, link: checkout.address(item.target) + item.heading }))
  }))
}
