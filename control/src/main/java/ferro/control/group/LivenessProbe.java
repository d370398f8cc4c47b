package ferro.control.group;

import java.util.BitSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Asks all ranks whether they are alive, for a caller that may wait. If this process stood still itself, it asks again:
 * the answers that arrived meanwhile have not been read yet.
 */
final class LivenessProbe {
    private static final long LOOK_NANOS = 1_000_000L;
    /** The most rounds of questions. */
    private static final int ASKED_MOST = 4;

    private final StatusInquiry inquiry;
    private final AgreedFailure failure;
    private final LongSupplier clock;

    LivenessProbe(StatusInquiry inquiry, AgreedFailure failure, LongSupplier clock) {
        this.inquiry = inquiry;
        this.failure = failure;
        this.clock = clock;
    }

    /** Returns the ranks that have not answered within a time; none once the group has failed. */
    Set<Integer> silent(long nanos) {
        BitSet silent = new BitSet();
        for (int round = 0; round < ASKED_MOST; round++) {
            long ask = inquiry.ask(null);
            boolean stoodStill = hasStoodStill(ask, nanos);
            silent = inquiry.silentTo(ask);
            if (!stoodStill || silent.isEmpty()) {
                break;
            }
        }
        Set<Integer> ranks = new TreeSet<>();
        if (!failure.isKnown()) {
            silent.stream().forEach(ranks::add);
        }
        return ranks;
    }

    /** Waits until all answered, time is up, the group failed, or this process stood still; returns whether it did. */
    private boolean hasStoodStill(long ask, long nanos) {
        long begun = clock.getAsLong();
        long last = begun;
        while (last - begun < nanos && !failure.isKnown() && inquiry.isAnySilent(ask, null)) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            long now = clock.getAsLong();
            if (now - last > TimeoutProbe.STOOD_STILL_NANOS) {
                return true;
            }
            last = now;
        }
        return false;
    }
}
