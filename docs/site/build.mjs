// Builds the site: npm run build. FERRO_CHECKOUT is the root of the checkout, FERRO_SITE the folder of the site.
import { build } from 'vitepress'
import { Checkout } from './checkout.mjs'
import { faults } from './check.mjs'
import { writePages } from './pages.mjs'

const site = process.env.FERRO_SITE
const pages = writePages(new Checkout(process.env.FERRO_CHECKOUT), 'pages')
await build('.')
const found = faults(site)
if (found.length > 0) {
  console.error(`the site has faults:\n  ${found.join('\n  ')}`)
  process.exit(1)
}
console.log(`${pages} pages in ${site}`)
