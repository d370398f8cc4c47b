/**
 * Collectives and links between ranks of one host, over memory that they share.
 *
 * <p>Collectives are programs: data, as plans are. Start reading at {@link ferro.collectives.shared.Program}, then at
 * {@link ferro.collectives.shared.StagedPrograms}; {@link ferro.collectives.shared.SharedMachine} runs them. Links are rings
 * of bytes: start at {@link ferro.collectives.shared.IntraNodeTransport}, then at {@code RingWriter} and
 * {@code RingReader}.
 *
 * <p>Code in this package does not know how the memory is made, does not wait, takes no lock, and opens no socket.
 */
package ferro.collectives.shared;
