/**
 * Measurements of ferro and other libraries in turns. The report has the ratios of rounds in which the machine was in
 * the same state.
 *
 * <p>Start reading at {@link ferro.benchmarks.compare.Comparison}. A {@code LibraryProcesses} is a set of processes that
 * waits for requests to measure. Only benchmarks/compare.sh can start a contestant. No code in this package depends on
 * the name of a library, except to derive the medium from the name.
 *
 * <p>Code in this package must not average times over rounds before it divides them, because a machine changes its
 * state within seconds.
 */
package ferro.benchmarks.compare;
