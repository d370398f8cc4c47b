package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.control.membership.MembershipMessage.RecoveryReport;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * The assignment of the ranks of a joined group to the ranks that watch them and report their loss. Each rank watches
 * the next ranks around a ring. When a watched rank is gone, the next rank that is not watched replaces the gone rank.
 * Therefore each rank is watched as long as other ranks exist. Several ranks detect the same loss. Each rank that
 * detects a loss reports it to a part of the ranks that do not watch the lost rank. Thread-safe.
 */
final class WatchAssignment {
    /** The number of ranks that notify a rank of a silence. Several ranks are needed, because some may end. */
    private static final int REPORTERS = 4;

    /** The maximum number of ranks that a rank watches. */
    private static final int WATCHED_MOST = 32;

    /** The number of nearest live ranks before a silent rank that report the silence to all ranks. */
    private static final int NEAREST = 2;

    private final int rank;
    private final int worldSize;
    /** The number of ranks that this rank watches at first. At first, the same number of ranks watches this rank. */
    private final int count;

    private final PeerState[] peers;
    /** The identity of the process of this rank, empty if it is unknown. */
    private final String process;
    /** Ranks that this rank watches, and gone ranks that this rank watched. */
    private final BitSet watched = new BitSet();
    /** Ranks that receive the heartbeats of this rank. */
    private final BitSet watchers = new BitSet();
    /** Silent ranks that this rank has reported to all other ranks. Only the ticks of the membership use this set. */
    private final BitSet reportedToAll = new BitSet();
    /** The last rank around the ring that this rank has begun to watch. */
    private int last;

    WatchAssignment(int rank, PeerState[] peers, String process) {
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

    /** Returns the ranks that this rank watches at first, beginning with the next rank. */
    PeerState[] first() {
        PeerState[] first = new PeerState[count];
        for (int at = 0; at < count; at++) {
            first[at] = peers[(rank + at + 1) % worldSize];
        }
        return first;
    }

    /** Returns whether the group has more ranks than this rank watches at first. */
    boolean hasReplacements() {
        return count < worldSize - 1;
    }

    /** Returns the ranks that watch this rank and are not gone. */
    synchronized BitSet watchers() {
        BitSet receivers = new BitSet();
        for (int watcher = watchers.nextSetBit(0); watcher >= 0; watcher = watchers.nextSetBit(watcher + 1)) {
            receivers.set(watcher, !peers[watcher].isOver());
        }
        return receivers;
    }

    /** Records that a rank watches this rank from now on. */
    synchronized void watchedBy(int watcher) {
        watchers.set(watcher);
    }

    /**
     * Returns the rank that this rank watches from now on in place of a rank that is gone. Returns null if no rank has
     * to be replaced, or if no other rank is left.
     */
    synchronized PeerState replacement() {
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

    /** Reports a loss that this rank has detected. */
    void report(LossReport loss, ControlLane lane, IntPredicate isSuspected) {
        int lost = loss.rank();
        if (loss.code() == Code.PARTITION) {
            reportedToAll.set(lost, nearerWatchers(lost, isSuspected) < NEAREST);
            sendToUnaware(lost, loss.encoded(), lane);
        } else if (loss.code() != Code.PEER_LOST || !isReportedByOwnProcess(lost)) {
            send(other -> other != lost, loss.encoded(), lane);
        }
    }

    /** Reports that a silent rank sends messages again. Notifies the ranks that were notified of the silence. */
    void reportFound(int found, ControlLane lane) {
        sendToUnaware(found, new RecoveryReport(found).encoded(), lane);
    }

    /**
     * Sends a message about a silent rank, which this rank watches. The receivers are the ranks that do not watch the
     * silent rank and to which this rank reports its silence. The ranks that notify the same receiver are not adjacent,
     * because adjacent ranks may be on one machine and end together.
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

    /** Returns the number of live ranks between this rank and a silent rank, all of which watch the silent rank. */
    private int nearerWatchers(int silent, IntPredicate isSuspected) {
        int present = 0;
        for (int nearer = (rank + 1) % worldSize; nearer != silent; nearer = (nearer + 1) % worldSize) {
            present += peers[nearer].isExpected() && !isSuspected.test(nearer) ? 1 : 0;
        }
        return present;
    }

    /**
     * Returns whether another rank of this process is nearer to a rank whose process has exited. A rank that is nearer
     * to the exited rank than this rank also watches the exited process.
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
