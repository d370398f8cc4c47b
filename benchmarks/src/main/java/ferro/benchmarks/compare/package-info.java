/**
 * Measures ferro and other libraries in turns, and reports the ratios of rounds in which the machine was in the same state.
 *
 * <p>Start reading at {@link ferro.benchmarks.compare.Comparison}. A {@code Contestant} is a set of processes that waits for
 * requests to measure. Only benchmarks/compare.sh knows how it is started. Nothing here knows a library by name, except what
 * the name says about its medium.
 *
 * <p>Forbidden: averaging times over rounds before dividing them, because a machine changes its state within seconds.
 */
package ferro.benchmarks.compare;
