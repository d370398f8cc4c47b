package ferro.control.group;

import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The numbers of point-to-point messages that this rank has exchanged with each peer of a group. A goodbye carries the
 * counts of a peer. With the counts of a peer, a rank distinguishes a message in flight from a message that will never
 * come. Updated by the thread that makes progress, read by any thread.
 */
public final class MessageCounts {
    private static final PeerCounts NONE = new PeerCounts();

    private final Map<Integer, PeerCounts> peers = new ConcurrentHashMap<>();

    MessageCounts() {
        // a peer is added with its first message
    }

    /** The messages between this rank and one peer. */
    public static final class PeerCounts {
        private volatile long sent;
        private volatile long arrived;
        private volatile long taken;

        private PeerCounts() {
            // made with the first message
        }

        /** Counts a message that this rank begins to send. Returns the number of the message, from 1. */
        public long nextSent() {
            long number = sent + 1;
            sent = number;
            return number;
        }

        /** Counts a message of the peer that has arrived completely, whether or not a receive has matched it. */
        public void countArrived() {
            arrived = arrived + 1;
        }

        /** Counts a message of the peer that a receive has delivered. */
        public void countTaken() {
            taken = taken + 1;
        }

        /** Returns the number of messages that this rank has begun to send. */
        public long sent() {
            return sent;
        }

        /** Returns the number of messages of the peer that have arrived completely on this rank. */
        public long arrived() {
            return arrived;
        }

        /** Returns the number of messages of the peer that receives have delivered. */
        public long taken() {
            return taken;
        }
    }

    /** Returns the counts of a peer. */
    public PeerCounts of(int peer) {
        PeerCounts known = peers.get(peer);
        if (known != null) {
            return known;
        }
        PeerCounts made = new PeerCounts();
        PeerCounts first = peers.putIfAbsent(peer, made);
        return first == null ? made : first;
    }

    /** Returns the peers with which this rank has exchanged messages. */
    BitSet peers() {
        BitSet ranks = new BitSet();
        peers.keySet().forEach(ranks::set);
        return ranks;
    }

    /** Returns the counts of a peer for reading only, without adding an entry for a peer without messages. */
    PeerCounts look(int peer) {
        return peers.getOrDefault(peer, NONE);
    }
}
