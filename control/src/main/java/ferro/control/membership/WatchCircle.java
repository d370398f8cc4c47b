package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.membership.MembershipMessage.Found;
import ferro.control.membership.MembershipMessage.Lost;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Which ranks of a joined group watch each other, and which notify the others. Each rank watches the next ones in a circle;
 * the rank after them replaces one that is over, so that each rank is watched as long as others are there. Several ranks see
 * the same loss, so each of them sends it to a part of the ranks that have not seen it. Thread-safe.
 */
final class WatchCircle {
    /** The number of ranks that notify each rank of a silence: more than one, because a few may end meanwhile. */
    private static final int REPORTERS = 4;

    /** The number of ranks that a rank watches, if so many are there. */
    private static final int WATCHED_MOST = 32;

    /** A silence is sent to all by this number of ranks: the nearest ones before the silent rank that live. */
    private static final int NEAREST = 2;

    private final int rank;
    private final int worldSize;
    /** How many ranks this rank watches at first, and how many watch it. */
    private final int count;

    private final Peer[] peers;
    /** Identity of the process of this rank, empty if it is unknown. */
    private final String process;
    /** Ranks that this rank watches, or has watched until they were over. */
    private final BitSet watched = new BitSet();
    /** Ranks that receive the heartbeats of this rank. */
    private final BitSet watchers = new BitSet();
    /** Silent ranks that this rank has reported to all others; only the ticks of the membership use it. */
    private final BitSet reportedToAll = new BitSet();
    /** The last rank of the circle that this rank has begun to watch. */
    private int last;

    WatchCircle(int rank, Peer[] peers, String process) {
        this.rank = rank;
        this.worldSize = peers.length;
        this.count = Math.min(WATCHED_MOST, worldSize - 1);
        this.peers = peers;
        this.process = process;
        this.last = (rank + count) % worldSize;
        for (int distance = 1; distance <= count; distance++) {
            watched.set((rank + distance) % worldSize);
            watchers.set(Math.floorMod(rank - distance, worldSize));
        }
    }

    /** Returns the ranks that this rank watches at first, the next one first. */
    Peer[] first() {
        Peer[] first = new Peer[count];
        for (int at = 0; at < count; at++) {
            first[at] = peers[(rank + at + 1) % worldSize];
        }
        return first;
    }

    /** Returns whether there are more ranks than this one watches at first. */
    boolean hasReplacements() {
        return count < worldSize - 1;
    }

    /** Returns the ranks that watch this one and are there. */
    synchronized BitSet watchers() {
        BitSet receivers = new BitSet();
        for (int watcher = watchers.nextSetBit(0); watcher >= 0; watcher = watchers.nextSetBit(watcher + 1)) {
            receivers.set(watcher, !peers[watcher].isOver());
        }
        return receivers;
    }

    /** Notes that a rank watches this one from now on. */
    synchronized void watchedBy(int watcher) {
        watchers.set(watcher);
    }

    /** Returns the rank that this one watches from now on in the place of one that is over; null if none is missing. */
    synchronized Peer replacement() {
        int present = 0;
        for (int peer = watched.nextSetBit(0); peer >= 0; peer = watched.nextSetBit(peer + 1)) {
            present += peers[peer].isOver() ? 0 : 1;
        }
        while (present < WATCHED_MOST) {
            int next = (last + 1) % worldSize;
            if (next == rank) {
                return null;
            }
            last = next;
            if (!peers[next].isOver()) {
                watched.set(next);
                return peers[next];
            }
        }
        return null;
    }

    /** Reports a loss that this rank has seen. */
    void report(Lost loss, ControlLane lane, IntPredicate isSuspected) {
        int lost = loss.rank();
        if (loss.code() == Code.PARTITION) {
            reportedToAll.set(lost, nearerWatchers(lost, isSuspected) < NEAREST);
            sendToUnaware(lost, loss.encoded(), lane);
        } else if (loss.code() != Code.PEER_LOST || !isReportedByOwnProcess(lost)) {
            send(other -> other != lost, loss.encoded(), lane);
        }
    }

    /** Reports that a rank whose silence was reported is heard of again, to the same ranks. */
    void reportFound(int found, ControlLane lane) {
        sendToUnaware(found, new Found(found).encoded(), lane);
    }

    /**
     * Sends to the ranks that do not watch a silent rank, and to which this rank, which watches it, reports the silence. The
     * ranks that notify the same rank are not neighbours, because neighbours may be on one machine and end together.
     */
    private void sendToUnaware(int silent, ByteBuffer message, ControlLane lane) {
        boolean toAll = reportedToAll.get(silent);
        int distance = Math.floorMod(silent - rank, worldSize);
        send(
                other -> Math.floorMod(silent - other, worldSize) > count
                        && (toAll || Math.floorMod(distance - other, Math.max(1, count / REPORTERS)) == 0),
                message,
                lane);
    }

    private void send(IntPredicate receives, ByteBuffer message, ControlLane lane) {
        for (int other = 0; other < worldSize; other++) {
            if (other != rank && receives.test(other) && !peers[other].isOver()) {
                lane.control(other, message.duplicate());
            }
        }
    }

    /** Returns how many ranks between this one and a silent rank, which watch that rank too, are there. */
    private int nearerWatchers(int silent, IntPredicate isSuspected) {
        int present = 0;
        for (int nearer = (rank + 1) % worldSize; nearer != silent; nearer = (nearer + 1) % worldSize) {
            present += peers[nearer].isExpected() && !isSuspected.test(nearer) ? 1 : 0;
        }
        return present;
    }

    /**
     * Returns whether a rank of the same process is nearer to a rank whose process has exited. That rank looks at the same
     * process, because it looks at no more ranks before it than this rank.
     */
    private boolean isReportedByOwnProcess(int exited) {
        for (int nearer = (rank + 1) % worldSize; nearer != exited; nearer = (nearer + 1) % worldSize) {
            if (!process.isEmpty() && process.equals(peers[nearer].identity()) && !peers[nearer].isOver()) {
                return true;
            }
        }
        return false;
    }
}
