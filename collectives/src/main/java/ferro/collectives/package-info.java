/**
 * The engine: queue, sequence numbers, executors, and the loop that takes a group forward.
 *
 * <p>A medium enters at {@link ferro.collectives.CollectiveEngine}; start reading there, then at {@code GroupEngine}.
 *
 * <p>Nothing here opens a socket or reads the environment.
 */
package ferro.collectives;
