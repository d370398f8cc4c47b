/**
 * The test that compares the tests of the sources with the tests that {@code .ci/run} has executed.
 *
 * <p>Start with {@link ferro.integration.ci.EveryTestRunsTest}.
 */
package ferro.integration.ci;
