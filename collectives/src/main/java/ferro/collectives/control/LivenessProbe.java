package ferro.collectives.control;

import java.util.BitSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks all ranks whether they are alive, for a caller that may wait. If this process stood still itself, it asks again:
 * the answers that arrived meanwhile have not been read yet.
 */
final class LivenessProbe {
    private static final long LOOK_NANOS = 1_000_000L;
    /** The most rounds of questions. */
    private static final int ASKED_MOST = 4;

    private final GroupControl control;

    LivenessProbe(GroupControl control) {
        this.control = control;
    }

    /** Returns the ranks that have not answered within a time; none once the group has failed. */
    Set<Integer> silent(long nanos) {
        BitSet silent = new BitSet();
        for (int round = 0; round < ASKED_MOST; round++) {
            long ask = control.ask(null);
            boolean stoodStill = hasStoodStill(ask, nanos);
            silent = control.silentTo(ask);
            if (!stoodStill || silent.isEmpty()) {
                break;
            }
        }
        Set<Integer> ranks = new TreeSet<>();
        if (control.failure() == null) {
            silent.stream().forEach(ranks::add);
        }
        return ranks;
    }

    /**
     * Waits until all have answered, the time is over, the group has failed, or this process has stood still. Returns
     * whether it stood still.
     */
    private boolean hasStoodStill(long ask, long nanos) {
        long begun = control.nanoTime();
        long last = begun;
        while (last - begun < nanos && control.failure() == null && control.isAnySilent(ask, null)) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            long now = control.nanoTime();
            if (now - last > TimeoutProbe.STOOD_STILL_NANOS) {
                return true;
            }
            last = now;
        }
        return false;
    }
}
