// The default theme with the fonts of the reader's system: no font is loaded.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

export default DefaultTheme
