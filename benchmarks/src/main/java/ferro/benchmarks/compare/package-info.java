/**
 * Measures ferro and other libraries in turns, and reports the ratios of rounds in which the machine was in one state.
 *
 * <p>Start reading at {@link ferro.benchmarks.compare.Comparison}. A {@code Contestant} is a set of processes that waits until
 * it is asked to measure; how it is started is known to benchmarks/compare.sh alone, and nothing here knows a library by name
 * beyond what the name says about its medium.
 *
 * <p>Forbidden: averaging times over rounds before dividing them; a machine changes its state within seconds.
 */
package ferro.benchmarks.compare;
