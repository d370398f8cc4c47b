// Runs before each build: npm test.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { Checkout } from './checkout.mjs'
import { faults } from './check.mjs'
import { slug, target } from './links.mjs'
import { readMap } from './map.mjs'
import { writePages } from './pages.mjs'

function folderWith(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ferro-site-'))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  test.after(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

test('the map has a group for each heading with rows that have a link, in their order', () => {
  const text = '# Title\n[not in a table](a.md)\n## One\n| page | for |\n|---|---|\n| [first](guide/a.md) | not a link |\n'
    + '## Empty\n## Two\n| do | [second](../C.md#part), [third](d.md) |\n'

  assert.deepEqual(readMap(text, 'docs'), [
    { text: 'One', items: [{ text: 'first', target: 'docs/guide/a.md', heading: '' }] },
    { text: 'Two', items: [{ text: 'second', target: 'C.md', heading: '#part' }, { text: 'third', target: 'docs/d.md', heading: '' }] }
  ])
  assert.throws(() => readMap('# Title\n', 'docs'), /no heading with a table/)
})

test('headings and links are named as on GitHub', () => {
  assert.equal(slug('What the `launcher` does, and_leaves - behind?'), 'what-the-launcher-does-and_leaves---behind')
  assert.equal(target('docs/guide/a.md', '../b.md#part'), 'docs/b.md')
  assert.equal(target('docs/guide/a.md', 'https://example.org/b.md'), null)
  assert.equal(target('docs/guide/a.md', '#part'), null)
})

test('pages stand as they are, and linked files and folders get pages', () => {
  const readme = 'See [code](x/src/A.java), [all](x), [there](y/) and ![picture](p.svg)\n```\n[no](link)\n```\n'
  const root = folderWith({
    'README.md': readme, 'x/src/A.java': 'class A {} // ```\n', 'x/src/notes.md': 'no page', 'y/README.md': 'there\n',
    'p.svg': '<svg/>', 'target/made.md': 'made', '.hidden/h.md': 'hidden'
  })
  const pages = path.join(root, 'target/pages')

  assert.equal(writePages(new Checkout(root), pages), 5)
  assert.equal(fs.readFileSync(path.join(pages, 'index.md'), 'utf8'), readme)
  assert.match(fs.readFileSync(path.join(pages, 'x/src/A.java.md'), 'utf8'), /````java\nclass A \{\} \/\/ ```\n````/)
  assert.match(fs.readFileSync(path.join(pages, 'x/index.md'), 'utf8'), /- \[src\/A.java\]\(src\/A.java\)/)
  assert.ok(fs.existsSync(path.join(pages, 'p.svg')))
  assert.equal(new Checkout(root).address('y/README.md'), '/y/')
  assert.equal(new Checkout(root).address('x/src/A.java'), '/x/src/A.java.html')
})

test('a link to no file stops the build', () => {
  const root = folderWith({ 'README.md': '[gone](gone.md)' })

  assert.throws(() => writePages(new Checkout(root), path.join(root, 'target/pages')), /README.md links to gone.md/)
})

test('links to no heading and loads from other hosts are found', () => {
  const site = folderWith({
    'index.html': '<h1 id="top">a</h1><a href="#top">a</a><a href="#none">b</a><a href="/b.html#part">c</a>'
      + '<a class="x" href="./gone.html">d</a><a href="https://example.org/">e</a><img src="https://example.org/i.png">',
    'b.html': '<h2 id="part">b</h2><a href="/#none">a</a><a href="/api/index.html">later</a>',
    's.css': '@import "https://example.org/f.css"; a { background: url(data:image/png;base64,A) url(//example.org/f.woff2) }'
  })

  assert.deepEqual(faults(site).sort(), [
    'b.html: /#none leads to no heading',
    'index.html: #none leads to no heading',
    'index.html: ./gone.html leads to no file',
    'index.html: loads https://example.org/i.png',
    's.css: loads //example.org/f.woff2',
    's.css: loads https://example.org/f.css'
  ])
})
