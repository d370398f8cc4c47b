/**
 * The output of ranks and its display: lines with the number of their rank, progress bars, folded stack traces, and the
 * failure report in its frame.
 *
 * <p>Start reading at {@code RankStream}, then {@code Screen}. Code in this package starts and ends no process.
 */
package ferro.launcher.output;
