/**
 * The processes of the ranks of this host: how they start, on which cores, and how all of them end.
 *
 * <p>Start reading at {@code Supervisor}, which decides, then {@code RankProcess}, which acts. {@code ProcessGroupGuard}
 * ends a rank with everything that it has started, even if the launcher is killed.
 */
package ferro.launcher.rank;
