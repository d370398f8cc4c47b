/**
 * The site that {@code mvn -B compile -Psite} builds, looked at in a browser.
 *
 * <p>Start with {@link ferro.integration.site.SiteTest}. {@link ferro.integration.site.Chromium} starts the browser and sends it
 * commands of the DevTools protocol; {@link ferro.integration.site.Folder} serves the files of the site on loopback.
 */
package ferro.integration.site;
