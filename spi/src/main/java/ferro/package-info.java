/**
 * What everybody holds: back ends, calls, tensors, failures.
 *
 * <p>Start reading at {@link ferro.Backend}, then {@link ferro.Collective}. People who only use ferro start at
 * {@code ferro.group.ProcessGroup} instead.
 *
 * <p>Nothing in this package opens a socket, starts a thread or reads the environment.
 */
package ferro;
