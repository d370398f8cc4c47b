/**
 * What the launchers of a job's nodes know of each other, by the store that the launcher of node 0 serves.
 *
 * <p>Start reading at {@link ferro.launcher.nodes.Nodes}: it brings the launchers together before a rank starts, tells each what
 * happens on the others, and ends them with one verdict. {@code Roll} decides on node 0 whether all are there and alike,
 * {@code UnfitNode} tells them of one that cannot start its ranks, {@code NodeWatch} notices those that are gone or silent.
 * docs/decisions/0015 says why.
 *
 * <p>Nothing here starts a process, prints, or knows what a verdict says: that is the launcher's.
 */
package ferro.launcher.nodes;
