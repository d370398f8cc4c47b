/**
 * The display of the output of ranks: lines with the number of the rank, progress bars, shortened stack traces, and the
 * failure report in its frame.
 *
 * <p>Start reading at {@code RankStreamReader}, then {@code Screen}. Code in this package starts and ends no process.
 */
package ferro.launcher.output;
