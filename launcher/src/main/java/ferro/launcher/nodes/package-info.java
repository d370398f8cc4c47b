/**
 * Communication between the launchers of a job's nodes, through the store of the launcher of node 0.
 *
 * <p>Start reading at {@link ferro.launcher.nodes.LauncherConnections}. {@code LauncherConnections} waits for all launchers before a rank starts,
 * and forwards the events of each node to the other nodes. At the end, {@code LauncherConnections} gives all launchers one verdict.
 * {@code StartCoordinator} decides on node 0 whether all launchers have connected and their options agree.
 * {@code LauncherBarrier} also publishes that a node cannot start its ranks. docs/decisions/0015 gives the reasons.
 *
 * <p>Code in this package starts no process, prints nothing, and does not interpret a verdict. The package {@code
 * ferro.launcher} starts processes, prints, and interprets verdicts.
 */
package ferro.launcher.nodes;
