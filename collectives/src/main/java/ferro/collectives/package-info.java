/**
 * The engine: queue, sequence numbers, the plan runner and who drives it.
 *
 * <p>A medium enters at {@link ferro.collectives.CollectiveEngine}; start reading there, then at {@code GroupEngine}.
 *
 * <p>Nothing here opens a socket or reads the environment.
 */
package ferro.collectives;
