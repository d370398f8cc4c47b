package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.Nccl;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * One native communicator: who may use it, and who frees it.
 *
 * <p>One compare-and-set decides between abort and close, a second one which of them frees: there is exactly one
 * {@code ncclCommAbort} or {@code ncclCommDestroy}, whatever races. A use counts itself in before it looks at the state, and
 * whoever frees changes the state before it looks at the count; so no use begins after the end, and none that is short is
 * cut off. A use that does not come back is what abort is for: after a grace it goes ahead, which NCCL allows. A poll
 * ({@link #asyncError}) always comes back, so it is counted apart and waited for without a bound: one that was held up
 * between its count and its native call would otherwise read what has been freed.
 *
 * <p>The first fatal failure is kept ({@link #breakBy}); later uses fail at once with it as their cause.
 */
final class CommHandle {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** A call that is not stuck takes microseconds. */
    private static final long USE_GRACE_NANOS = 100_000_000;
    /** Of the grace at most so much is spent per look: a pause of the whole JVM holds up the use as well. */
    private static final long MOST_GRACE_PER_LOOK_NANOS = 1_000_000;

    private static final Duration ABORT_BOUND = Duration.ofSeconds(10);
    private static final long LOOK_NANOS = 50_000;

    private final long address;
    private final CommPlace place;
    private final LongSupplier clock;
    private final NcclAbortHandle abortHandle = new NcclAbortHandle(this);
    /** How it ended; null while it may be used. */
    private final AtomicReference<Ending> ending = new AtomicReference<>();

    /** Who frees it; null until somebody does. */
    private final AtomicReference<Free> freed = new AtomicReference<>();

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger polls = new AtomicInteger();
    private final AtomicReference<Throwable> brokenBy = new AtomicReference<>();
    private final AtomicReference<Throwable> abortFailure = new AtomicReference<>();
    private final CountDownLatch abortOver = new CountDownLatch(1);

    private enum Free {
        BY_ABORT,
        BY_DESTROY
    }

    /** What ended the use; {@code why} is for later callers. */
    private record Ending(boolean byAbort, String why) {}

    /**
     * Takes over a communicator.
     *
     * @param address of ncclComm_t; 0 means that there is none, and nothing to free
     * @param place   who it is
     * @param clock   nanoseconds, monotonic
     */
    CommHandle(long address, CommPlace place, LongSupplier clock) {
        this.address = address;
        this.place = place;
        this.clock = clock;
    }

    /** Returns ncclComm_t, for use between {@link #enter} and {@link #leave}. */
    long address() {
        return address;
    }

    CommPlace place() {
        return place;
    }

    NcclAbortHandle abortHandle() {
        return abortHandle;
    }

    /**
     * Counts a use in; {@link #leave} must follow.
     *
     * @return address, good until then
     * @throws RuntimeException that {@link #refusal} gave, with nothing counted
     */
    long enter(NcclOperation operation) {
        inside.incrementAndGet();
        RuntimeException refusal = refusal(operation);
        if (refusal != null) {
            inside.decrementAndGet();
            throw refusal;
        }
        return address;
    }

    /** Counts a use in that is part of closing; returns 0, with nothing counted, if there is nothing left to use. */
    long enterUnfreed() {
        inside.incrementAndGet();
        if (address == 0 || freed.get() != null) {
            inside.decrementAndGet();
            return 0;
        }
        return address;
    }

    void leave() {
        inside.decrementAndGet();
    }

    /** Counts a poll in, which {@link #leavePoll} must follow; false, with nothing counted, if there is nothing left to ask. */
    boolean enterPoll() {
        polls.incrementAndGet();
        if (address == 0 || freed.get() != null) {
            polls.decrementAndGet();
            return false;
        }
        return true;
    }

    void leavePoll() {
        polls.decrementAndGet();
    }

    /** Returns why it may not be used: the first failure before the end that followed it; null if it may. */
    RuntimeException refusal(NcclOperation operation) {
        Throwable first = brokenBy.get();
        if (first != null) {
            return new FerroException(
                    Code.NATIVE,
                    place.where(operation, 0),
                    place.during(operation) + ": communicator broken by earlier error " + first.getMessage()
                            + ": close it and join again",
                    first);
        }
        Ending end = ending.get();
        if (end != null && end.byAbort) {
            return aborted(operation, null);
        }
        if (end != null || address == 0) {
            return new IllegalStateException(
                    place.during(operation) + ": the communicator is " + (end == null ? "null" : end.why));
        }
        return null;
    }

    /** Returns the failure of a use that an abort has cut off. */
    FerroException aborted(NcclOperation operation, Throwable cause) {
        Ending end = ending.get();
        String why = end == null ? "closed" : end.why;
        return new FerroException(
                Code.ABORTED,
                place.where(operation, 0),
                place.during(operation) + ": the communicator is aborted: " + why,
                cause);
    }

    /** Remembers the first fatal failure, and begins an abort, the only way out that NCCL leaves; waits for nothing. */
    void breakBy(Throwable first) {
        if (brokenBy.compareAndSet(null, first)
                && ending.compareAndSet(null, new Ending(true, "broken by " + first.getMessage()))) {
            beginAbort();
        }
    }

    boolean isBroken() {
        return brokenBy.get() != null;
    }

    boolean isAborted() {
        Ending end = ending.get();
        return end != null && end.byAbort;
    }

    boolean isClosed() {
        Ending end = ending.get();
        return end != null && !end.byAbort;
    }

    /** Returns whether an abort has come to its end, well or badly; then what it cut off can be expected to end too. */
    boolean isAbortOver() {
        return abortOver.getCount() == 0;
    }

    Optional<Throwable> abortFailure() {
        return Optional.ofNullable(abortFailure.get());
    }

    /** Ends the use by closing; returns whether the caller must now free it. */
    boolean claimClose() {
        return ending.compareAndSet(null, new Ending(false, "closed"));
    }

    /**
     * Ends the use and frees the communicator, from any thread; what is stuck in it comes back with a failure. The first
     * call waits, at most ten seconds, for NCCL; later ones, and those after a close, do nothing.
     *
     * @param why for those who are cut off and those who come later
     */
    void abort(String why) {
        if (ending.compareAndSet(null, new Ending(true, why))) {
            freeByAbort();
        }
    }

    /** Frees by abort what is not freed yet, NCCL's own way out when closing is stuck, and waits for an abort under way. */
    void freeByAbort() {
        beginAbort();
        boolean underWay = freed.get() == Free.BY_ABORT && abortFailure.get() == null;
        if (underWay && !Deadline.after(ABORT_BOUND, clock).awaitQuietly(abortOver)) {
            recordAbortFailure(new FerroException(
                    Code.NATIVE,
                    place.where(NcclOperation.CLOSE, ABORT_BOUND.toNanos()),
                    "ncclCommAbort of " + place + " did not return within " + ABORT_BOUND.toMillis()
                            + " ms: it is left behind, end the process"));
        }
    }

    private void beginAbort() {
        if (address != 0 && freed.compareAndSet(null, Free.BY_ABORT)) {
            Thread aborting = new Thread(this::abortNatively, place.threadName("abort"));
            aborting.setDaemon(true);
            try {
                aborting.start();
            } catch (OutOfMemoryError noThread) {
                // an abort that holds up its caller is better than none
                abortNatively();
            }
        }
    }

    private void abortNatively() {
        try {
            awaitUses();
            // a device in trouble refuses this, and the abort is needed all the more
            if (Cuda.cudaSetDevice(place.device()) != Cuda.SUCCESS) {
                Cuda.cudaGetLastError();
            }
            Checks.nccl(Nccl.ncclCommAbort(address), "ncclCommAbort");
        } catch (RuntimeException | Error e) {
            recordAbortFailure(e);
        } finally {
            abortOver.countDown();
        }
    }

    private void recordAbortFailure(Throwable failure) {
        if (abortFailure.compareAndSet(null, failure)) {
            LOG.log(Level.WARNING, "aborting the communicator of " + place + " failed", failure);
        }
    }

    /** Frees by destroy, on the device thread, unless an abort was quicker. */
    void destroy() {
        if (address == 0 || !freed.compareAndSet(null, Free.BY_DESTROY)) {
            return;
        }
        awaitUses();
        Communicator.accept(Nccl.ncclCommDestroy(address), "ncclCommDestroy");
    }

    /** Asks NCCL how the communicator is, from any thread; one that is gone has no failure to tell. */
    NcclResult asyncError() {
        int[] result = new int[1];
        if (!enterPoll()) {
            return NcclResult.SUCCESS;
        }
        try {
            int answer = Nccl.ncclCommGetAsyncError(address, result);
            return NcclResult.of(answer == 0 ? result[0] : answer);
        } finally {
            leavePoll();
        }
    }

    private void awaitUses() {
        long graceNanos = USE_GRACE_NANOS;
        long before = System.nanoTime();
        while (polls.get() > 0 || inside.get() > 0 && graceNanos > 0) {
            LockSupport.parkNanos(LOOK_NANOS);
            long now = System.nanoTime();
            graceNanos -= Math.min(now - before, MOST_GRACE_PER_LOOK_NANOS);
            before = now;
        }
    }
}
