package ferro.collectives.control;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many point-to-point messages this rank has exchanged with each peer of a group: what a goodbye carries, and what tells a
 * message that is still on its way from one that will never come. Counted by whoever drives, read by any thread.
 */
public final class MessageCounts {
    private static final OfPeer NONE = new OfPeer();

    private final Map<Integer, OfPeer> peers = new ConcurrentHashMap<>();

    MessageCounts() {
        // peers come with their first message
    }

    /** The messages between this rank and one peer. */
    public static final class OfPeer {
        private volatile long sent;
        private volatile long arrived;
        private volatile long taken;

        private OfPeer() {
            // made with the first message
        }

        /**
         * Counts a message that this rank begins to send.
         *
         * @return its number, from 1
         */
        public long nextSent() {
            long number = sent + 1;
            sent = number;
            return number;
        }

        /** Counts a message of the peer that is whole on this rank, whether a receive has met it or not. */
        public void countArrived() {
            arrived = arrived + 1;
        }

        /** Counts a message of the peer that a receive has delivered. */
        public void countTaken() {
            taken = taken + 1;
        }

        /**
         * Returns how many messages this rank has begun to send.
         *
         * @return count
         */
        public long sent() {
            return sent;
        }

        /**
         * Returns how many messages of the peer are whole on this rank.
         *
         * @return count
         */
        public long arrived() {
            return arrived;
        }

        /**
         * Returns how many messages of the peer were delivered.
         *
         * @return count
         */
        public long taken() {
            return taken;
        }
    }

    /**
     * Returns the counts of a peer.
     *
     * @param peer rank
     * @return counts, the same object for the whole life of the group
     */
    public OfPeer of(int peer) {
        return peers.computeIfAbsent(peer, first -> new OfPeer());
    }

    /** Returns the counts of a peer, to be read only: nothing is kept for a peer without messages. */
    OfPeer look(int peer) {
        return peers.getOrDefault(peer, NONE);
    }
}
