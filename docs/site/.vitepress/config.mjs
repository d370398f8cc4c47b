// Started by build.mjs, which sets the two variables.
import path from 'node:path'
import { Checkout } from '../checkout.mjs'
import { licences } from '../licences.mjs'
import { checkoutLinks, slug } from '../links.mjs'
import { sidebar } from '../map.mjs'

const checkout = new Checkout(process.env.FERRO_CHECKOUT)

export default {
  lang: 'en',
  title: 'ferro',
  description: 'Collective communication for the JVM',
  // no icon: without this line, browsers ask for one
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: 'pages',
  outDir: path.resolve(process.env.FERRO_SITE),
  appearance: true,
  ignoreDeadLinks: false,
  lastUpdated: false,
  markdown: {
    anchor: { slugify: slug },
    config: md => md.use(checkoutLinks(checkout))
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(checkout),
    outline: [2, 3],
    nav: [
      { text: 'Documentation', link: checkout.address('docs/README.md') },
      { text: 'Javadoc', link: '/api/index.html', target: '_self' }
    ]
  },
  vite: {
    plugins: [licences()],
    build: { chunkSizeWarningLimit: 10000 }
  }
}
