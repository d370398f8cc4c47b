/**
 * Ranks of one host over memory that they share.
 *
 * <p>Collectives are programs, data as plans are: start reading at {@link ferro.collectives.shared.Program}, then at
 * {@link ferro.collectives.shared.ChunkSizes}; {@link ferro.collectives.shared.SharedMachine} runs them. Links are
 * rings of bytes: start at {@link ferro.collectives.shared.NearTransport}, then at {@code RingWriter} and
 * {@code RingReader}.
 *
 * <p>Nothing here knows how the memory is made, waits, takes a lock, or opens a socket.
 */
package ferro.collectives.shared;
