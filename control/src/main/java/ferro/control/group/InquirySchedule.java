package ferro.control.group;

import java.util.BitSet;

/**
 * The schedule by which a rank asks other ranks about a call that does not end. The schedule sets the times and the
 * ranks to ask. The intervals between inquiries double up to a longest interval, which grows with the number of ranks.
 * Used by one thread at a time.
 */
final class InquirySchedule {
    /**
     * Time from a call to the first inquiry about the call. Ranks that have made different calls must detect the
     * difference within 100 ms.
     */
    private static final long FIRST_NANOS = 50_000_000L;

    /** The longest interval in a small group, in nanoseconds. */
    private static final long LONGEST_NANOS = 2_000_000_000L;

    /** The longest interval in a large group, as a multiple of the time until the first inquiry. */
    private static final int LONGEST_FIRSTS = 4;

    private static final int ASKED_AT_ONCE = 16;
    /** Maximum number of ranks that one inquiry asks in a large group. */
    static final int MAX_ASKED = 4;

    private final int rank;
    private final int worldSize;
    private final long firstNanos;
    private final long longestNanos;
    /** The rank after the last rank that was asked. */
    private int nextRank;

    private long nextNanos;
    private long intervalNanos;

    /**
     * Creates the schedule of a group.
     *
     * @param rank      this rank
     * @param worldSize number of ranks; in a larger group each rank asks less often
     */
    InquirySchedule(int rank, int worldSize) {
        this.rank = rank;
        this.worldSize = worldSize;
        firstNanos = FIRST_NANOS * Math.max(1, worldSize / ASKED_AT_ONCE);
        longestNanos = Math.max(LONGEST_NANOS, LONGEST_FIRSTS * firstNanos);
        nextRank = (rank + 1) % worldSize;
    }

    /**
     * Starts the schedule of another call.
     *
     * @param limitNanos largest number of nanoseconds until the first inquiry
     * @param nowNanos   current time on the context's clock
     */
    void begin(long limitNanos, long nowNanos) {
        intervalNanos = Math.max(1, Math.min(firstNanos, limitNanos));
        nextNanos = nowNanos + intervalNanos;
    }

    /** Returns whether an inquiry is due at a time of the context's clock, and in this case plans the next inquiry. */
    boolean isDue(long nowNanos) {
        if (nowNanos - nextNanos < 0) {
            return false;
        }
        intervalNanos = Math.min(2 * intervalNanos, longestNanos);
        nextNanos = nowNanos + intervalNanos;
        return true;
    }

    /** Returns the nanoseconds from a time of the context's clock to the next inquiry; negative if overdue. */
    long remainingNanos(long nowNanos) {
        return nextNanos - nowNanos;
    }

    /**
     * Returns the ranks that the next inquiry asks. An inquiry asks at most {@link #MAX_ASKED} of the ranks that this
     * rank waits for. Later inquiries ask the other ranks in turn.
     *
     * @param waitedFor ranks that this rank waits for; if empty, the ranks are not known, and any rank may be asked
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
