/**
 * Communication of the launchers of a job's nodes through the store that the launcher of node 0 serves.
 *
 * <p>Start reading at {@link ferro.launcher.nodes.Nodes}: it brings the launchers together before a rank starts, tells each
 * what happens on the others, and ends them with one verdict. {@code NodeRendezvous} decides on node 0 whether all are there and
 * alike. {@code LauncherMeeting} tells them of a node that cannot start its ranks. docs/decisions/0015 gives the reasons.
 *
 * <p>Nothing here starts a process, prints, or knows the content of a verdict: that is the task of the launcher.
 */
package ferro.launcher.nodes;
