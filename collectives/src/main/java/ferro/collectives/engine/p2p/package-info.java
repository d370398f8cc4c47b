/**
 * Messages between two ranks, matched by peer and tag.
 *
 * <p>Start reading at {@code PointToPoint}, then {@code PeerLanes}, which has the receives from any
 * rank, {@code PeerLane}, which has the envelopes, and {@code MatchingQueue}.
 */
package ferro.collectives.engine.p2p;
