// The licences of the packages whose code is in the site.
import fs from 'node:fs'
import path from 'node:path'

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//
const LICENCE = /^licen[cs]e/i

/** A plugin of Vite: writes licences.txt into the site. Fails for a package without a licence. */
export function licences() {
  const packages = new Map()
  return {
    name: 'ferro:licences',
    generateBundle(options, bundle) {
      for (const chunk of Object.values(bundle)) {
        for (const module of Object.keys(chunk.modules ?? {})) {
          const [, folder, name] = PACKAGE.exec(module.replace(/\0/g, '')) ?? []
          if (folder !== undefined) {
            packages.set(name, folder)
          }
        }
      }
      const texts = [...packages].sort().map(([name, folder]) => text(name, folder))
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join('\n') })
    }
  }
}

function text(name, folder) {
  const { version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json')))
  const file = fs.readdirSync(folder).find(each => LICENCE.test(each))
  if (license === undefined && file === undefined) {
    throw new Error(`the package ${name} in the site has no licence`)
  }
  const body = file === undefined ? '' : fs.readFileSync(path.join(folder, file), 'utf8')
  return `${name} ${version}, ${license}\n${'-'.repeat(72)}\n${body}\n`
}
