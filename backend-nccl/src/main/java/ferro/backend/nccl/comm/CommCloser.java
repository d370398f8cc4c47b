package ferro.backend.nccl.comm;

import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.NcclConfigFunctions;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.EventPool;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;

/**
 * Closes a communicator. The steps are: synchronize the streams, finalize and destroy the communicator, close its own
 * streams, and end its thread. If a step hangs, the communicator is aborted instead.
 */
final class CommCloser extends DeviceCall<Void> {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    private static final Duration RELEASE_BOUND = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofMillis(2_500);

    private final Communicator comm;
    private final Deadline deadline;
    private ClosingStep step = ClosingStep.RECORD;
    private long[] events;
    private volatile boolean abandoned;

    private enum ClosingStep {
        RECORD,
        SYNCHRONIZE,
        FINALIZE,
        SETTLE,
        DESTROY,
        DONE
    }

    CommCloser(Communicator comm, Deadline deadline) {
        this.comm = comm;
        this.deadline = deadline;
    }

    /** Closes the communicator in limited time. Throws nothing. */
    void run() {
        boolean orderly = true;
        for (CommHandle member : comm.members()) {
            orderly &= member.claimClose() && member.address() != 0 && !member.isBroken();
        }
        if (orderly) {
            closeOrderly();
        }
        comm.members().forEach(CommHandle::freeByAbort);
        release();
    }

    private void closeOrderly() {
        try {
            comm.thread().submit(this);
            if (awaitQuietly(deadline)) {
                result();
                return;
            }
            abandoned = true;
            drop(new IllegalStateException("closing " + identity() + " took too long"));
            LOG.log(
                    Level.WARNING,
                    "closing {0} took longer than {1} ms at step {2}: the communicator is aborted instead",
                    identity(),
                    deadline.lengthMillis(),
                    step);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "closing the communicator of " + identity() + " failed at step " + step, e);
        }
    }

    /** Frees the streams and events on the device thread, then ends the thread. */
    void release() {
        try {
            DeviceCall<Void> call = comm.thread().submit(new StreamReleaser());
            if (call.awaitQuietly(comm.deadline(RELEASE_BOUND))) {
                call.result();
            }
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "freeing the streams and events of " + identity() + " failed", e);
        }
        comm.thread().close(RELEASE_BOUND);
    }

    /**
     * Frees the streams when all calls have ended and the streams have finished. An abort makes the streams finish.
     * After {@code PATIENCE}, unfinished streams are closed as well; CUDA frees a closed stream when it has finished.
     */
    private final class StreamReleaser extends DeviceCall<Void> {
        private final Deadline patience = comm.deadline(PATIENCE);
        private boolean looking;

        @Override
        protected boolean issue() {
            if (patience.passed()) {
                return true;
            }
            if (!looking && !comm.ownStreams().isEmpty()) {
                giveBackEvents();
                recordEvents();
            }
            looking = true;
            return comm.watchesNothing() && comm.thread().hasNothingElse() && (events == null || passed());
        }

        @Override
        protected Void outcome() {
            giveBackEvents();
            List<CommHandle> members = comm.members();
            for (int i = 0; i < members.size(); i++) {
                comm.thread().use(members.get(i).identity().device());
                comm.events(i).close();
            }
            comm.ownStreams().forEach(CudaStream::close);
            comm.ownStreams().clear();
            return null;
        }
    }

    private void giveBackEvents() {
        for (int i = 0; events != null && i < events.length; i++) {
            if (events[i] != 0) {
                comm.events(memberOf(i)).giveBack(events[i]);
                events[i] = 0;
            }
        }
    }

    private CommIdentity identity() {
        return comm.handle().identity();
    }

    @Override
    protected boolean issue() {
        ClosingStep before;
        do {
            if (abandoned) {
                throw new IllegalStateException("closing " + identity() + " was abandoned at step " + step);
            }
            before = step;
            step = next();
        } while (step != before && step != ClosingStep.DONE);
        return step == ClosingStep.DONE;
    }

    private ClosingStep next() {
        return switch (step) {
            case RECORD -> recordEvents();
            case SYNCHRONIZE -> passed() ? ClosingStep.FINALIZE : ClosingStep.SYNCHRONIZE;
            case FINALIZE -> finalizeAll();
            case SETTLE -> comm.isSettled() ? ClosingStep.DESTROY : ClosingStep.SETTLE;
            case DESTROY -> destroyAll();
            case DONE -> ClosingStep.DONE;
        };
    }

    /**
     * Records an event on each stream that the communicator owns. If it owns none, records an event on the default
     * stream of each device.
     */
    private ClosingStep recordEvents() {
        List<CudaStream> own = comm.ownStreams();
        int count = own.isEmpty() ? comm.members().size() : own.size();
        events = new long[count];
        for (int i = 0; i < count; i++) {
            int member = memberOf(i);
            comm.thread().use(comm.members().get(member).identity().device());
            events[i] = comm.events(member)
                    .record(own.isEmpty() ? Cuda.DEFAULT_STREAM : own.get(i).handle());
        }
        return ClosingStep.SYNCHRONIZE;
    }

    /** Returns the index of the member to which an event belongs. Only a communicator with one member owns streams. */
    private int memberOf(int event) {
        return comm.ownStreams().isEmpty() ? event : 0;
    }

    private boolean passed() {
        for (int i = 0; i < events.length; i++) {
            EventPool pool = comm.events(memberOf(i));
            if (events[i] != 0 && !pool.passed(events[i])) {
                return false;
            }
            if (events[i] != 0) {
                pool.giveBack(events[i]);
                events[i] = 0;
            }
        }
        return true;
    }

    /** Finalizes all members in one NCCL group, so that communicators of one process do not wait for one another. */
    private ClosingStep finalizeAll() {
        boolean can = LibraryLoader.loaded()
                .filter(libraries -> libraries.has(NcclCapability.CONFIGURED))
                .isPresent();
        if (!can) {
            return ClosingStep.DESTROY;
        }
        Communicator.grouped(() -> comm.members().forEach(CommCloser::finalizeOne));
        return ClosingStep.SETTLE;
    }

    private static void finalizeOne(CommHandle member) {
        long address = member.enterUnfreed();
        if (address == 0) {
            return;
        }
        try {
            ResultChecker.begun(NcclConfigFunctions.ncclCommFinalize(address), "ncclCommFinalize");
        } finally {
            member.leave();
        }
    }

    private ClosingStep destroyAll() {
        comm.members().forEach(CommHandle::destroy);
        return ClosingStep.DONE;
    }
}
