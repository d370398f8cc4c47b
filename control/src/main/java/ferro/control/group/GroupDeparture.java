package ferro.control.group;

import ferro.control.failure.FailureFactory;
import java.time.Duration;

/**
 * The end of a group on one rank, from a close or the exit of the JVM to the goodbye of the rank. The rank leaves when
 * its calls have ended. If some calls do not end, the group fails before the rank leaves.
 */
public final class GroupDeparture {
    private final GroupControl control;
    private final OpenCalls calls;
    private volatile boolean exit;

    /** The calls of a group on this rank. */
    public interface OpenCalls {
        /** Refuses calls from now on. Returns false if calls were already refused. */
        boolean refuse();

        /** Waits until all calls have ended, but at most until a time of the context's clock. */
        void finish(long untilNanos);

        /** Returns whether no call is in flight. Any thread may call this method. */
        boolean isIdle();

        /** Describes the call that is in flight; empty if no call is in flight. */
        String callInFlight();

        /** Returns the number of the last collective that has ended, 0 if none. */
        long ended();
    }

    /** Prepares the end of a group. */
    public GroupDeparture(GroupControl control, OpenCalls calls) {
        this.control = control;
        this.calls = calls;
    }

    /**
     * Waits until the calls in flight and a {@code newGroup} of another thread have ended. The group accepts no more
     * calls. Fails the group if a call has not ended in time.
     */
    public void finish(Duration timeout, long untilNanos) {
        calls.finish(untilNanos);
        if (control.failure() == null) {
            control.agreement().making().await(untilNanos, control::nanoTime);
        }
        failUnfinished(timeout);
    }

    /** Fails the group if a call has not ended, as {@link #finish} does, but without waiting. */
    public void failUnfinished(Duration timeout) {
        boolean makesGroup = control.agreement().close();
        if (control.failure() == null && (makesGroup || !calls.isIdle())) {
            control.fail(FailureFactory.closedTooEarly(control.group(), control.self(), timeout));
        }
        if (control.failure() == null) {
            control.settleWithLeavers();
        }
    }

    /**
     * Begins the end of an open group at the exit of the JVM. Refuses calls, and fails the group if a call is in flight
     * or a signal ends the JVM. Returns false if the group was already closed.
     */
    public boolean exit(String signal) {
        // before the first call is refused, because the refusal reads this field
        exit = true;
        if (!calls.refuse()) {
            exit = false;
            return false;
        }
        int rank = control.group().rank();
        String known = calls.callInFlight();
        String call = known.isEmpty() ? control.agreement().status().operation() : known;
        if (control.failure() == null && !signal.isEmpty()) {
            control.fail(FailureFactory.endedBySignal(rank, control.self(), signal, call, calls.ended()));
        } else if (control.failure() == null && !call.isEmpty()) {
            control.fail(FailureFactory.exits(rank, control.self(), call));
        }
        return true;
    }

    /** Returns whether the group ends because the JVM exits. */
    public boolean isExit() {
        return exit;
    }

    /** Creates the exception for a call that comes after the group has begun to end. */
    public RuntimeException refusal(String call) {
        return exit
                ? FailureFactory.refusedAtExit(control.group(), control.self(), call)
                : FailureFactory.closed(control.group(), call);
    }
}
