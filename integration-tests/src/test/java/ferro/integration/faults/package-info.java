/**
 * Checks of docs/faults.md and of its annex, which is written from tests: a test whose name begins with {@code row N: } shows that
 * row. Start reading at {@code FaultsPageTest}. It has the command that writes the annex, and fails if the annex is out of date.
 *
 * <p>Only the annex is written. The page with faults, promises and gaps is edited by hand.
 */
package ferro.integration.faults;
