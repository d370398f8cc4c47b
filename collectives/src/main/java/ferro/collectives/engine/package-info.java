/**
 * The engine of a group: {@code GroupEngine} takes the calls, and {@code GroupLife} has the parts of the group and ends
 * it.
 *
 * <p>{@code OperationQueue} runs collectives, {@code PointToPoint} moves messages, {@code ProgressLoop} makes progress
 * on both, {@code LocalPeers} finds the ranks of one host, {@code Schedule} cuts memory into chunks, and {@code
 * PlainEngine} serves a back end that only sends and receives. No class in this package opens a socket or reads the
 * environment.
 */
package ferro.collectives.engine;
