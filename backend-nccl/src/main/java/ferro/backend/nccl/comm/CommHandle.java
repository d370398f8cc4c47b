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
 * One native communicator. This class decides who may use the communicator, and who frees it.
 *
 * <p>One compare-and-set decides whether the communicator is aborted or closed. Another compare-and-set decides whether
 * abort or close frees the communicator. Under any race, exactly one {@code ncclCommAbort} or {@code ncclCommDestroy}
 * is called. A thread that uses the communicator increments a count before it reads the state. The freeing thread
 * changes the state before it reads the count. Therefore no use begins after the communicator was freed, and no short
 * use is cut off. For a use that does not return, an abort starts after a grace period, which NCCL allows. A poll
 * ({@link #asyncError}) always returns, so polls are counted separately, and the freeing thread waits for them without
 * a limit. Otherwise a poll that was delayed after it was counted and before its native call would read freed memory.
 *
 * <p>The first fatal failure is stored ({@link #breakBy}). Later uses fail at once, and this failure is their cause.
 */
final class CommHandle {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    /** How long an abort waits for uses that are in progress. A native call that is not stuck takes microseconds. */
    private static final long USE_GRACE_NANOS = 100_000_000;
    /**
     * Maximum time that one poll of the waiting abort subtracts from the grace period, because a pause of the JVM also
     * delays the use.
     */
    private static final long MOST_GRACE_PER_LOOK_NANOS = 1_000_000;

    private static final Duration ABORT_BOUND = Duration.ofSeconds(10);
    private static final long LOOK_NANOS = 50_000;

    private final long address;
    private final CommIdentity identity;
    private final LongSupplier clock;
    /** How the communicator was ended; null while the communicator may be used. */
    private final AtomicReference<HandleEnd> ending = new AtomicReference<>();

    /** The native call that frees the communicator; null until one of the calls was chosen. */
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

    /** The end of the communicator by an abort or a close; {@code why} is the reason that later callers get. */
    private record HandleEnd(boolean byAbort, String why) {}

    /**
     * Takes ownership of an ncclComm_t. Address 0 means that no communicator exists and nothing must be freed. The
     * clock is monotonic, in nanoseconds.
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
     * @throws RuntimeException that {@link #refusal} returns; the use is then not counted
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

    /**
     * Begins a use that is a step of the close. If the communicator does not exist or was freed, counts nothing and
     * returns 0.
     */
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

    /**
     * Begins a poll, which {@link #leavePoll} must end. If the communicator does not exist or was freed, counts nothing
     * and returns false.
     */
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
     * Returns why the communicator may not be used, or null if it may. The first fatal failure has precedence over a
     * later abort or close.
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

    /**
     * Stores the first fatal failure and begins an abort, without waiting for it. NCCL offers no other way to end a
     * failed communicator.
     */
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

    /**
     * Returns whether an abort has ended, even with a failure. After the abort, the native calls that it has cut off
     * should return.
     */
    boolean isAbortOver() {
        return abortOver.getCount() == 0;
    }

    Optional<Throwable> abortFailure() {
        return Optional.ofNullable(abortFailure.get());
    }

    /**
     * Marks the communicator as closed, unless it was aborted or closed before. Returns true if the caller must now
     * free the communicator.
     */
    boolean claimClose() {
        return ending.compareAndSet(null, new HandleEnd(false, "closed"));
    }

    /**
     * Aborts and frees the communicator, from any thread. A call that is stuck in NCCL returns with a failure. The
     * first abort waits for NCCL, at most ten seconds. Later aborts, and aborts after a close, do nothing. Aborted
     * calls and later calls report {@code why}.
     */
    void abort(String why) {
        if (ending.compareAndSet(null, new HandleEnd(true, why))) {
            freeByAbort();
        }
    }

    /**
     * Frees the communicator by an abort if it is not freed yet. NCCL has no other way to end a stuck close. Waits for
     * an abort in progress.
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
                // without memory for a thread, the abort runs on the caller's thread, which it blocks
                abortNatively();
            }
        }
    }

    private void abortNatively() {
        try {
            awaitUses();
            // a faulty device refuses this call; the communicator is aborted even then
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

    /** Frees the communicator by ncclCommDestroy, on the device thread, unless an abort has freed it. */
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
