/**
 * Collectives and links between ranks of one host, over memory that these ranks share.
 *
 * <p>{@link ferro.collectives.shared.SegmentLayout} defines where bytes lie in a segment. Collectives are programs.
 * Programs are data, as plans are. Start reading at {@link ferro.collectives.shared.SharedMemoryProgram}, then at
 * {@link ferro.collectives.shared.StagedPrograms}. {@link ferro.collectives.shared.SharedMemoryInterpreter} runs programs. Links
 * are rings of bytes. For links, start reading at {@link ferro.collectives.shared.IntraNodeTransport}, then at
 * {@code ByteRingEnd}. {@link ferro.collectives.shared.NodeTopology} has the ranks that share memory.
 *
 * <p>Code in this package is independent of how the memory is made, does not wait, takes no lock, and opens no socket.
 */
package ferro.collectives.shared;
