package ferro.collectives.engine;

import ferro.FerroException;
import ferro.collectives.engine.exec.OperationQueue;
import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.control.failure.Failure;
import ferro.control.group.GroupControl;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;

/**
 * What becomes of the calls of a group that has failed or is closed: those under way end with the cause, later ones are
 * refused with it. A MISMATCH that no call has told is told by the close.
 */
final class FailureSettlement {
    private final GroupSpec group;
    private final GroupControl control;
    private final ProgressLoop loop;
    private final OperationQueue collectives;
    private final SettledParts parts;
    private volatile boolean settled;
    private volatile boolean mismatchUntold;

    /**
     * What is settled.
     *
     * @param transport     medium
     * @param abandonsLinks whether a failure drops the links
     * @param calls         end with the failure
     * @param closing       is done by the thread that settles, if it was asked for
     */
    record SettledParts(Transport transport, boolean abandonsLinks, PendingCalls calls, Closing closing) {}

    FailureSettlement(
            GroupSpec group, GroupControl control, ProgressLoop loop, OperationQueue collectives, SettledParts parts) {
        this.group = group;
        this.control = control;
        this.loop = loop;
        this.collectives = collectives;
        this.parts = parts;
    }

    /** Refuses a call on a closed group, and repeats the failure of a failed one. */
    void checkUsable(String call) {
        if (collectives.isClosed()) {
            throw parts.closing.ending().refusal(call);
        }
        Failure failure = control.failure();
        if (failure != null) {
            mismatchUntold = false;
            throw exception(call, failure);
        }
    }

    /** Ends everything after a failure, and the links after a close; see {@link ProgressLoop.LoopOwner#settle}. */
    boolean settle() {
        Failure failure = control.failure();
        boolean isFirst = failure != null && !settled;
        if (failure != null) {
            settle(failure);
        }
        parts.closing.settle();
        return isFirst;
    }

    private void settle(Failure failure) {
        try {
            if (!settled) {
                // pending calls tell it, messages included
                mismatchUntold = isMismatch(failure) && parts.calls.isIdle();
                settled = true;
                collectives.noteReached();
                if (parts.abandonsLinks) {
                    parts.transport.abandon();
                }
            }
        } finally {
            parts.calls.settle(failure);
        }
    }

    /** Returns whether there is anything that {@link #settle} has not handled yet; any thread. */
    boolean isDue() {
        return parts.closing.wantsLock() || control.failure() != null && (!settled || !parts.calls.isIdle());
    }

    /** Throws, when the group has been closed, a MISMATCH that no call has told. */
    void throwUntold() {
        Failure failure = control.failure();
        // a failure that came while the links ended may never have been settled: then no call has told it either
        if (failure != null && (settled ? mismatchUntold : isMismatch(failure))) {
            mismatchUntold = false;
            throw exception("close", failure);
        }
    }

    private static boolean isMismatch(Failure failure) {
        return failure.code() == FerroException.Code.MISMATCH;
    }

    private FerroException exception(String call, Failure failure) {
        return new PendingWork(loop, call, -1, group.timeout()).exception(failure, PendingWork.Position.NOWHERE);
    }
}
