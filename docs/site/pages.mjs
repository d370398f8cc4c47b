// Puts the pages into a folder for VitePress, as they stand in the checkout.
import fs from 'node:fs'
import path from 'node:path'
import { target } from './links.mjs'

const LINK = /(!?)\[[^\]]*\]\(([^)\s]+)\)/g
const BLOCK = /^(`{3,}).*?^\1/gms
/** Languages for the colours of shown files, by the end of the name; all other files have none. */
const LANGUAGES = {
  java: 'java', xml: 'xml', yaml: 'yaml', sh: 'sh', sbatch: 'sh', c: 'c', h: 'c', cc: 'cpp', py: 'python', patch: 'diff',
  csv: 'csv'
}
const PICTURE = /\.(png|svg)$/

/**
 * Writes all pages and the files and folders that pages link to. Fails if a link leads to no file.
 *
 * Returns how many pages there are.
 */
export function writePages(checkout, folder) {
  fs.rmSync(folder, { recursive: true, force: true })
  const written = new Set()
  const dead = []
  const waiting = checkout.pages()
  while (waiting.length > 0) {
    const file = waiting.pop()
    const source = checkout.source(file)
    if (written.has(source)) {
      continue
    }
    if (PICTURE.test(file)) {
      copy(checkout, file, path.join(folder, file))
      continue
    }
    written.add(source)
    const links = write(checkout, file, path.join(folder, source))
    for (const linked of links) {
      const exists = checkout.isFile(linked) || checkout.isFolder(linked)
      exists ? waiting.push(targetPage(checkout, linked)) : dead.push(`${file} links to ${linked}`)
    }
  }
  if (dead.length > 0) {
    throw new Error(`links that lead to no file:\n  ${dead.join('\n  ')}`)
  }
  return written.size
}

/** Returns the file whose page a link to a file or folder opens. */
function targetPage(checkout, linked) {
  const readme = path.posix.join(linked, 'README.md')
  return checkout.isFolder(linked) && checkout.isFile(readme) ? readme : linked.replace(/\/$/, '')
}

/** Writes one page, and returns the paths that its links name. */
function write(checkout, file, to) {
  if (checkout.isFolder(file)) {
    const files = checkout.filesOf(file)
    put(to, listing(file, files.map(each => path.posix.relative(file, each))))
    return files
  }
  if (file.endsWith('.md')) {
    copy(checkout, file, to)
    const text = checkout.read(file).toString().replace(BLOCK, '')
    return [...text.matchAll(LINK)].map(([, , link]) => target(file, link)).filter(each => each !== null)
  }
  put(to, shown(file, checkout.read(file).toString()))
  return []
}

const OWN = '---\nsearch: false\neditLink: false\nprev: false\nnext: false\n'

function listing(folder, files) {
  return `${OWN}---\n\n# ${folder}\n\n${files.map(each => `- [${each}](${each})`).join('\n')}\n`
}

function shown(file, text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  const language = LANGUAGES[path.extname(file).slice(1)] ?? 'txt'
  return `${OWN}outline: false\n---\n\n# ${path.basename(file)}\n\n\`${file}\`\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`
}

function copy(checkout, file, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  fs.copyFileSync(path.join(checkout.root, file), to)
}

function put(to, text) {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  fs.writeFileSync(to, text)
}
