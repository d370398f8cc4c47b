/**
 * The processes of the ranks of this host: how they start, on which cores they run, and how all of them end.
 *
 * <p>Start reading at {@code Supervisor}, which makes the decisions, then {@code RankProcess}, which starts and signals
 * one rank. {@code ProcessGroupGuard} ends a rank with all its children, even if the launcher is killed.
 */
package ferro.launcher.rank;
