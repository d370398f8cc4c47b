/**
 * The output of ranks and its display: lines with the number of their rank, progress bars, folded stack traces, the box of a
 * failure.
 *
 * <p>Start reading at {@code RankStream}, then {@code Screen}. Nothing here starts or ends a process.
 */
package ferro.launcher.output;
