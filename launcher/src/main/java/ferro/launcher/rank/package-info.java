/**
 * The processes of the ranks of this host: their start, their cores, and their end.
 *
 * <p>Start reading at {@code Supervisor}, which makes the decisions, then {@code RankProcess}, which starts and signals
 * one rank. {@code ChildProcessGuard} ends a rank with all its children, even if the launcher is killed.
 */
package ferro.launcher.rank;
