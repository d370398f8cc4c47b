/**
 * The ranks of one host: how they find out that they share memory, and how their segments are laid out.
 *
 * <p>Start reading at {@code LocalPeers}, then {@code SharedMemoryBootstrap}.
 */
package ferro.collectives.engine.shm;
