package ferro.collectives;

import ferro.FerroException.Code;
import ferro.collectives.control.Failure;
import ferro.collectives.control.GroupControl;
import ferro.spi.GroupSpec;
import java.util.BitSet;
import java.util.stream.Collectors;

/**
 * Looks after the operation that a group waits for: asks the other ranks about it, and gives it up at its deadline. Called by
 * whoever drives.
 */
final class OperationWatch {
    private static final long FIRST_ASK_NANOS = 100_000_000L;
    private static final long ASK_INTERVAL_MOST_NANOS = 2_000_000_000L;
    private static final int ASKED_AT_ONCE = 16;

    private final GroupSpec group;
    private final GroupControl control;
    private final PlanRunner runner;
    private long nextAskNanos;
    private long askIntervalNanos;

    OperationWatch(GroupSpec group, GroupControl control, PlanRunner runner) {
        this.group = group;
        this.control = control;
        this.runner = runner;
    }

    /** Another operation is the one under way. */
    void begin() {
        askIntervalNanos = 0;
    }

    /** Looks at the operation under way, and at the first of those queued behind it that is late, or null. */
    void look(Operation running, Operation lateInQueue, long nowNanos) {
        refuseToWaitForTheDeparted(running);
        askWhenDue(running, nowNanos);
        Operation late = nowNanos - running.work().deadlineNanos() >= 0 ? running : lateInQueue;
        if (late != null) {
            giveUp(running, late);
        }
    }

    /** Asks the others about an operation that does not move, from its begin on in growing intervals. */
    private void askWhenDue(Operation operation, long nowNanos) {
        if (askIntervalNanos == 0) {
            long quarter = Math.max(1, (operation.work().deadlineNanos() - nowNanos) / 4);
            // every rank asks every rank: larger worlds ask more rarely
            long crowd = Math.max(1, group.worldSize() / ASKED_AT_ONCE);
            askIntervalNanos = Math.min(FIRST_ASK_NANOS * crowd, quarter);
            nextAskNanos = nowNanos + askIntervalNanos;
        } else if (nowNanos - nextAskNanos >= 0) {
            askIntervalNanos = Math.max(askIntervalNanos, Math.min(2 * askIntervalNanos, ASK_INTERVAL_MOST_NANOS));
            nextAskNanos = nowNanos + askIntervalNanos;
            control.ask(operation.header());
        }
    }

    /** A rank that closed its end without having made a call will never make it. */
    private void refuseToWaitForTheDeparted(Operation operation) {
        int gone = control.departedBefore(operation.header().sequence());
        if (gone >= 0) {
            String text = control.closedBy(gone);
            control.fail(new Failure(Code.PEER_LOST, group.rank(), -1, Integer.toString(gone), text, null));
        }
    }

    private void giveUp(Operation running, Operation late) {
        BitSet blamed = control.missingAt(running.header().sequence());
        if (blamed.isEmpty()) {
            blamed = runner.waitingFor();
        }
        String names = blamed.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
        String text = "rank " + group.rank() + " of \"" + group.name() + "\" gave up on "
                + (blamed.cardinality() == 1 ? "rank " : "ranks ") + names + " after "
                + late.work().elapsed().toMillis() + " ms at " + running.work().description() + " seq "
                + running.header().sequence() + ", " + runner.progress();
        control.fail(new Failure(Code.TIMED_OUT, group.rank(), running.header().sequence(), names, text, null));
    }
}
