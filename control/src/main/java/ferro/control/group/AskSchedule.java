package ferro.control.group;

import java.util.BitSet;

/**
 * The times at which a rank asks other ranks about a call that does not end, and which ranks it asks. The intervals double
 * up to a longest interval, which grows with the number of ranks. One thread uses an object at a time.
 */
final class AskSchedule {
    /**
     * Time until the first inquiry. This time is short, because ranks that have made different calls must detect the
     * difference within 100 ms.
     */
    private static final long FIRST_NANOS = 50_000_000L;

    /** Longest interval in a small group, in nanoseconds. */
    private static final long LONGEST_NANOS = 2_000_000_000L;

    /** Longest interval in a large group, in intervals before the first inquiry. */
    private static final int LONGEST_FIRSTS = 4;

    private static final int ASKED_AT_ONCE = 16;
    /** Maximum number of ranks that one inquiry asks in a large group. */
    static final int MAX_ASKED = 4;

    private final int rank;
    private final int worldSize;
    private final long firstNanos;
    private final long longestNanos;
    /** The rank after the last one that was asked. */
    private int nextRank;

    private long nextNanos;
    private long intervalNanos;

    /**
     * Makes the schedule of a group.
     *
     * @param rank      this rank
     * @param worldSize number of ranks: the more ranks ask, the less often each of them does
     */
    AskSchedule(int rank, int worldSize) {
        this.rank = rank;
        this.worldSize = worldSize;
        firstNanos = FIRST_NANOS * Math.max(1, worldSize / ASKED_AT_ONCE);
        longestNanos = Math.max(LONGEST_NANOS, LONGEST_FIRSTS * firstNanos);
        nextRank = (rank + 1) % worldSize;
    }

    /**
     * Begins with another call.
     *
     * @param limitNanos nanoseconds until the first inquiry at most
     * @param nowNanos   time of now on the context's clock
     */
    void begin(long limitNanos, long nowNanos) {
        intervalNanos = Math.max(1, Math.min(firstNanos, limitNanos));
        nextNanos = nowNanos + intervalNanos;
    }

    /** Returns whether to ask at a time of the context's clock. If so, the next time is one interval later. */
    boolean isDue(long nowNanos) {
        if (nowNanos - nextNanos < 0) {
            return false;
        }
        intervalNanos = Math.min(2 * intervalNanos, longestNanos);
        nextNanos = nowNanos + intervalNanos;
        return true;
    }

    /** Returns the nanoseconds from a time of the context's clock to the next inquiry; negative if it is overdue. */
    long remainingNanos(long nowNanos) {
        return nextNanos - nowNanos;
    }

    /**
     * Returns the ranks that the next inquiry asks: at most {@link #MAX_ASKED} of those that this rank waits for. Later
     * inquiries ask the others in turn.
     *
     * @param waitedFor ranks that this rank waits for; empty if it is not known which, which means any rank
     * @return ranks to ask
     */
    BitSet nextAsked(BitSet waitedFor) {
        BitSet asked = new BitSet();
        int from = nextRank;
        for (int step = 0; step < worldSize && asked.cardinality() < MAX_ASKED; step++) {
            int peer = (from + step) % worldSize;
            if (peer != rank && (waitedFor.isEmpty() || waitedFor.get(peer))) {
                asked.set(peer);
                nextRank = (peer + 1) % worldSize;
            }
        }
        return asked;
    }
}
