/**
 * docs/faults.md, made from tests: every test whose name begins with {@code row N: } shows that row. Start reading at
 * {@code FaultsPageTest}, which says how the page is made anew and fails where it no longer fits the tests.
 *
 * <p>Faults, promises and what is said about misses are written by hand on the page and are left as they are; tests, back ends and
 * figures are not.
 */
package ferro.integration.faults;
