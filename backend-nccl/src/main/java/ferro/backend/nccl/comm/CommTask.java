package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceCall;
import java.time.Duration;
import java.util.List;

/**
 * One call of a communicator on the device thread. The task makes the native calls, in one NCCL group if there are
 * several. Then the task waits until NCCL has accepted the calls, records an event per stream, and polls the events.
 */
final class CommTask extends DeviceCall<Void> {
    /**
     * How long streams may take to finish after an abort, which ends the kernels. After this time, the task ends
     * without waiting for the streams.
     */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(4);

    private final Communicator comm;
    private final Communicator.NativeBatch batch;
    private boolean handedOver;
    private long[] events;
    private int eventCount;
    private Deadline afterAbort;
    private FerroException failure;

    CommTask(Communicator comm, Communicator.NativeBatch batch) {
        this.comm = comm;
        this.batch = batch;
    }

    @Override
    protected boolean issue() {
        try {
            if (!handedOver) {
                handOver();
                handedOver = true;
            }
            if (!taken()) {
                return false;
            }
        } catch (FerroException e) {
            failure = failed(e);
            if (!handedOver) {
                throw failure;
            }
        }
        recordOrFail();
        return true;
    }

    /**
     * Records the events, even after a failure: kernels that were launched use the tensors until the abort ends these
     * kernels.
     */
    private void recordOrFail() {
        try {
            recordEvents();
        } catch (FerroException e) {
            giveBackEvents();
            throw failure == null ? failed(e) : failure;
        }
    }

    private void handOver() {
        List<CommHandle> members = comm.members();
        int entered = 0;
        try {
            for (CommHandle member : members) {
                member.enter(batch.operation());
                entered++;
            }
            if (batch.grouped()) {
                Communicator.grouped(this::callInGroup);
            } else {
                callAll();
            }
        } finally {
            for (int i = 0; i < entered; i++) {
                members.get(i).leave();
            }
        }
    }

    private void callInGroup() {
        comm.groupOpened();
        try {
            callAll();
        } finally {
            comm.groupClosed();
        }
    }

    private void callAll() {
        List<CommHandle> members = comm.members();
        for (int i = 0; i < members.size(); i++) {
            comm.thread().use(members.get(i).identity().device());
            batch.calls().make(i, comm.addressOf(i));
        }
    }

    /** Returns whether NCCL has accepted the call. NCCL accepts the calls of an NCCL group at the end of the group. */
    private boolean taken() {
        if (!comm.nonBlocking() || comm.insideGroup()) {
            return true;
        }
        CommHandle aborted = comm.abortedMember();
        if (aborted != null) {
            throw aborted.aborted(batch.operation(), null);
        }
        return comm.isSettled();
    }

    private void recordEvents() {
        long[] streams = batch.streams();
        if (streams == null) {
            return;
        }
        events = new long[streams.length];
        while (eventCount < streams.length) {
            comm.thread().use(comm.members().get(eventCount).identity().device());
            events[eventCount] = comm.events(eventCount).record(streams[eventCount]);
            eventCount++;
        }
        comm.watchBegun();
    }

    @Override
    protected boolean over() {
        if (batch.streams() == null) {
            return true;
        }
        boolean over = false;
        try {
            over = passed();
            return over;
        } catch (CudaException e) {
            over = true;
            throw failed(e);
        } finally {
            if (over) {
                giveBackEvents();
                comm.watchEnded();
            }
        }
    }

    private boolean passed() {
        while (eventCount > 0 && comm.events(eventCount - 1).passed(events[eventCount - 1])) {
            eventCount--;
            comm.events(eventCount).giveBack(events[eventCount]);
        }
        if (comm.abortedMember() == null) {
            return eventCount == 0;
        }
        // kernels that NCCL launched after the events were recorded are not covered by the events; the abort waits for
        // these kernels
        return eventCount == 0 && comm.abortsAreOver() || givenUp();
    }

    private void giveBackEvents() {
        while (eventCount > 0) {
            eventCount--;
            comm.events(eventCount).giveBack(events[eventCount]);
        }
    }

    private boolean givenUp() {
        if (afterAbort == null) {
            afterAbort = Deadline.after(AFTER_ABORT, System::nanoTime);
        }
        return afterAbort.passed();
    }

    @Override
    protected Void outcome() {
        if (failure != null) {
            throw failure;
        }
        CommHandle aborted = comm.abortedMember();
        if (aborted != null && batch.streams() != null) {
            throw aborted.aborted(batch.operation(), null);
        }
        return null;
    }

    /** Adds the operation to a native failure. A fatal failure makes the communicator unusable. */
    private FerroException failed(FerroException failure) {
        CommHandle first = comm.members().get(0);
        if (!(failure instanceof NcclException) && !(failure instanceof CudaException)) {
            return failure;
        }
        CommHandle aborted = comm.abortedMember();
        if (aborted != null) {
            return aborted.aborted(batch.operation(), failure);
        }
        FerroException named = Communicator.during(batch.operation(), first.identity(), failure);
        if (!(failure instanceof NcclException nccl) || Communicator.isFatal(nccl.result())) {
            comm.members().forEach(member -> member.breakBy(named));
        }
        return named;
    }
}
