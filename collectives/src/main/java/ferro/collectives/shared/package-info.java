/**
 * Ranks of one host over memory that they share.
 *
 * <p>Links are rings of bytes: start reading at {@link ferro.collectives.shared.NearTransport}, then at {@code RingWriter}
 * and {@code RingReader}.
 *
 * <p>Nothing here knows how the memory is made, waits, takes a lock, or opens a socket.
 */
package ferro.collectives.shared;
