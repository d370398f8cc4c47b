/**
 * The engine of a group. {@code GroupEngine} accepts the calls, and {@code GroupLifecycle} has the parts of the group
 * and ends the group.
 *
 * <p>{@code OperationQueue} runs collectives, {@code PointToPointQueue} moves messages, and {@code ProgressLoop} makes
 * progress on collectives and messages. {@code LocalPeers} finds the ranks of one host, and {@code Schedule} cuts
 * memory into chunks. {@code BackendAdapter} serves a back end that only sends and receives. No class in this package
 * opens a socket or reads the environment.
 */
package ferro.collectives.engine;
