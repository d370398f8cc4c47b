/**
 * The types that all modules share: back ends, calls, tensors, failures.
 *
 * <p>Start reading at {@link ferro.Backend}, then {@link ferro.Collective}. Users of ferro start at
 * {@code ferro.group.ProcessGroup} instead.
 *
 * <p>Nothing in this package opens a socket, starts a thread or reads the environment.
 */
package ferro;
