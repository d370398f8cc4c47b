/**
 * Rules of the API, by the sources of the packages that ferro exports.
 *
 * <p>Start reading at {@code ApiSources}, which parses these sources. Nothing here runs a group.
 */
package ferro.integration.api;
