// The files of the checkout, and the page of the site for each file.
import fs from 'node:fs'
import path from 'node:path'

/** Folders that builds, tools and git make. */
const MADE = new Set(['target', 'node_modules'])

/**
 * A checkout. Paths are relative to its root, with slashes.
 *
 * A page of the site is a Markdown file of the checkout outside of a folder src. A link to any other text file leads to a
 * page that shows the file. A link to a folder leads to the README.md of the folder, or to a page that lists its files.
 */
export class Checkout {
  constructor(root) {
    this.root = path.resolve(root)
  }

  /** Returns the paths of all pages. */
  pages() {
    return this.filesOf('').filter(file => file.endsWith('.md') && !file.split('/').includes('src'))
  }

  /** Returns the paths of all files in a folder, without folders that are hidden or made by builds. */
  filesOf(folder) {
    return fs.readdirSync(path.join(this.root, folder), { withFileTypes: true })
      .filter(entry => !entry.name.startsWith('.') && !MADE.has(entry.name))
      .sort((first, second) => (first.name < second.name ? -1 : 1))
      .flatMap(entry => {
        const inside = path.posix.join(folder, entry.name)
        return entry.isDirectory() ? this.filesOf(inside) : [inside]
      })
  }

  isFolder(file) {
    return fs.statSync(path.join(this.root, file), { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  isFile(file) {
    return fs.statSync(path.join(this.root, file), { throwIfNoEntry: false })?.isFile() ?? false
  }

  read(file) {
    return fs.readFileSync(path.join(this.root, file))
  }

  /** Returns the path below which the site has the source of a page, such as docs/index.md for docs/README.md. */
  source(file) {
    if (this.isFolder(file)) {
      return path.posix.join(file, 'index.md')
    }
    if (file.endsWith('.md')) {
      return file.replace(/(^|\/)README\.md$/, '$1index.md')
    }
    return file + '.md'
  }

  /** Returns the address of the page for a file or folder, such as /docs/errors.html. */
  address(file) {
    return '/' + this.source(file).replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
  }
}
