/**
 * Collectives and links between ranks of one host, over memory that they share.
 *
 * <p>Where bytes lie in a segment says {@link ferro.collectives.shared.SegmentLayout}. Collectives are programs: data, as
 * plans are. Start reading at {@link ferro.collectives.shared.Program}, then at
 * {@link ferro.collectives.shared.StagedPrograms}; {@link ferro.collectives.shared.SharedMachine} runs them. Links are rings
 * of bytes: start at {@link ferro.collectives.shared.IntraNodeTransport}, then at {@code RingEnd}. Which ranks share memory
 * says {@link ferro.collectives.shared.NodeTopology}.
 *
 * <p>Code in this package does not know how the memory is made, does not wait, takes no lock, and opens no socket.
 */
package ferro.collectives.shared;
