/**
 * Ranks inside one JVM, over channels in memory: no sockets, nothing to configure.
 *
 * <p>Start reading at {@link ferro.backend.simulated.SimulatedBackend}, then {@code SimulatedTransport} and
 * {@code Channel}. A rank copies or combines straight from the sender's memory. Two media move the same channels:
 * {@code ThreadedMedium} at once, {@code SeededMedium} after delays drawn from a seed, under a virtual clock.
 *
 * <p>Nothing here opens a socket, reads the environment, or makes a thread or a link before it is used.
 */
package ferro.backend.simulated;
