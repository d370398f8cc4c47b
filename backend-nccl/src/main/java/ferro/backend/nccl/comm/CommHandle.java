package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.spi.PlainLoggers;
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
 * One native communicator, with the rules for its use and its release.
 *
 * <p>One compare-and-set decides between abort and close. Another compare-and-set decides whether abort or close frees
 * the communicator. Under any race, exactly one {@code ncclCommAbort} or {@code ncclCommDestroy} is called. A use
 * increments the count before it reads the state. The freeing thread changes the state before it reads the count.
 * Therefore no use begins after the end, and no short use is cut off. For a use that does not return, an abort starts
 * after a grace period, which NCCL allows. A poll ({@link #asyncError}) always returns, so polls are
 * counted separately, and the freeing thread waits for them without a limit. Otherwise a poll that was delayed between
 * its count and its native call would read freed memory.
 *
 * <p>The first fatal failure is kept ({@link #breakBy}). Later uses fail at once with this failure as their cause.
 */
final class CommHandle {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    /** Grace period of an abort for uses. A call that is not stuck takes microseconds. */
    private static final long USE_GRACE_NANOS = 100_000_000;
    /** Maximum part of the grace period per poll, because a pause of the JVM also delays the use. */
    private static final long MOST_GRACE_PER_LOOK_NANOS = 1_000_000;

    private static final Duration ABORT_BOUND = Duration.ofSeconds(10);
    private static final long LOOK_NANOS = 50_000;

    private final long address;
    private final CommIdentity identity;
    private final LongSupplier clock;
    /** How the use ended; null while the communicator may be used. */
    private final AtomicReference<HandleEnd> ending = new AtomicReference<>();

    /** The call that frees the communicator; null until a call frees it. */
    private final AtomicReference<FreeMethod> freed = new AtomicReference<>();

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger polls = new AtomicInteger();
    private final AtomicReference<Throwable> brokenBy = new AtomicReference<>();
    private final AtomicReference<Throwable> abortFailure = new AtomicReference<>();
    private final CountDownLatch abortOver = new CountDownLatch(1);

    private enum FreeMethod {
        BY_ABORT,
        BY_DESTROY
    }

    /** The end of the use; {@code why} is the reason for later callers. */
    private record HandleEnd(boolean byAbort, String why) {}

    /**
     * Takes ownership of an ncclComm_t; address 0 means that nothing exists and nothing must be freed. The clock is
     * monotonic, in nanoseconds.
     */
    CommHandle(long address, CommIdentity identity, LongSupplier clock) {
        this.address = address;
        this.identity = identity;
        this.clock = clock;
    }

    /** Returns ncclComm_t, for use between {@link #enter} and {@link #leave}. */
    long address() {
        return address;
    }

    CommIdentity identity() {
        return identity;
    }

    /**
     * Begins a use and counts it. The caller must then call {@link #leave}.
     *
     * @return address, valid until {@link #leave}
     * @throws RuntimeException from {@link #refusal}; then nothing is counted
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

    /** Begins a use that is part of closing. If no communicator is left, counts nothing and returns 0. */
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

    /** Begins a poll that {@link #leavePoll} must end. If no communicator is left, counts nothing and returns false. */
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

    /**
     * Returns why the communicator may not be used, or null if it may. The first failure has precedence over a later
     * end.
     */
    RuntimeException refusal(NcclOperation operation) {
        Throwable first = brokenBy.get();
        if (first != null) {
            return new FerroException(
                    Code.NATIVE,
                    identity.where(operation, 0),
                    identity.during(operation) + ": communicator broken by earlier error " + first.getMessage()
                            + ": close it and join again",
                    first);
        }
        HandleEnd end = ending.get();
        if (end != null && end.byAbort) {
            return aborted(operation, null);
        }
        if (end != null || address == 0) {
            return new IllegalStateException(
                    identity.during(operation) + ": the communicator is " + (end == null ? "null" : end.why));
        }
        return null;
    }

    /** Returns the failure of a use that an abort has ended. */
    FerroException aborted(NcclOperation operation, Throwable cause) {
        HandleEnd end = ending.get();
        String why = end == null ? "closed" : end.why;
        return new FerroException(
                Code.ABORTED,
                identity.where(operation, 0),
                identity.during(operation) + ": the communicator is aborted: " + why,
                cause);
    }

    /** Keeps the first fatal failure and begins an abort, the only way out that NCCL offers. Waits for nothing. */
    void breakBy(Throwable first) {
        if (brokenBy.compareAndSet(null, first)
                && ending.compareAndSet(null, new HandleEnd(true, "broken by " + first.getMessage()))) {
            beginAbort();
        }
    }

    boolean isBroken() {
        return brokenBy.get() != null;
    }

    boolean isAborted() {
        HandleEnd end = ending.get();
        return end != null && end.byAbort;
    }

    boolean isClosed() {
        HandleEnd end = ending.get();
        return end != null && !end.byAbort;
    }

    /** Returns whether an abort has ended, even with a failure. Uses that the abort cut off should then end. */
    boolean isAbortOver() {
        return abortOver.getCount() == 0;
    }

    Optional<Throwable> abortFailure() {
        return Optional.ofNullable(abortFailure.get());
    }

    /** Ends the use by a close. Returns whether the caller must now free the communicator. */
    boolean claimClose() {
        return ending.compareAndSet(null, new HandleEnd(false, "closed"));
    }

    /**
     * Ends the use and frees the communicator, from any thread. A stuck call returns with a failure. The first abort
     * waits for NCCL, at most ten seconds. Later aborts, and aborts after a close, do nothing. Aborted calls and later
     * calls report the reason.
     */
    void abort(String why) {
        if (ending.compareAndSet(null, new HandleEnd(true, why))) {
            freeByAbort();
        }
    }

    /**
     * Frees the communicator by an abort if it is not freed yet. NCCL offers only an abort to end a stuck close. Waits
     * for an abort in progress.
     */
    void freeByAbort() {
        beginAbort();
        boolean underWay = freed.get() == FreeMethod.BY_ABORT && abortFailure.get() == null;
        if (underWay && !Deadline.after(ABORT_BOUND, clock).awaitQuietly(abortOver::await)) {
            recordAbortFailure(new FerroException(
                    Code.NATIVE,
                    identity.where(NcclOperation.CLOSE, ABORT_BOUND.toNanos()),
                    "ncclCommAbort of " + identity + " did not return within " + ABORT_BOUND.toMillis()
                            + " ms: the communicator is not freed, so end the process"));
        }
    }

    private void beginAbort() {
        if (address != 0 && freed.compareAndSet(null, FreeMethod.BY_ABORT)) {
            Thread aborting = new Thread(this::abortNatively, identity.threadName("abort"));
            aborting.setDaemon(true);
            try {
                aborting.start();
            } catch (OutOfMemoryError noThread) {
                // an abort that blocks its caller is better than none
                abortNatively();
            }
        }
    }

    private void abortNatively() {
        try {
            awaitUses();
            // a faulty device refuses this call, and then needs the abort even more
            if (Cuda.cudaSetDevice(identity.device()) != Cuda.SUCCESS) {
                Cuda.cudaGetLastError();
            }
            ResultChecker.nccl(Nccl.ncclCommAbort(address), "ncclCommAbort");
        } catch (RuntimeException | Error e) {
            recordAbortFailure(e);
        } finally {
            abortOver.countDown();
        }
    }

    private void recordAbortFailure(Throwable failure) {
        if (abortFailure.compareAndSet(null, failure)) {
            LOG.log(Level.WARNING, "aborting the communicator of " + identity + " failed", failure);
        }
    }

    /** Frees the communicator by destroy, on the device thread, unless an abort came first. */
    void destroy() {
        if (address == 0 || !freed.compareAndSet(null, FreeMethod.BY_DESTROY)) {
            return;
        }
        awaitUses();
        ResultChecker.begun(Nccl.ncclCommDestroy(address), "ncclCommDestroy");
    }

    /** Reads NCCL's state of the communicator, from any thread. A freed communicator reports no failure. */
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
