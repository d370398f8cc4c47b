package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that ends the calls that the device thread cannot end: operations past their deadline, failures that NCCL
 * reports only when it is polled, and failures of other ranks. It waits only for the native abort, which is bounded.
 *
 * <p>Raw calls have no deadline. For these it only polls NCCL for failures until their stream is synchronised.
 *
 * <p>While nothing is pending it sleeps. The first operation after that wakes it; later ones wake it only if their
 * deadline is nearer than its next poll. Without a failure or a slow operation it polls NCCL ten times a second and
 * never reads the store.
 */
final class Watchdog {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    private static final long LOOK_NANOS = 100_000_000;
    private static final long ASLEEP = Long.MAX_VALUE;
    /** Time for the store to report the missing ranks, once a deadline has passed. */
    private static final Duration ABSENTEES_BOUND = Duration.ofMillis(800);

    private static final int PART_BEFORE_WARNING = 4;
    /**
     * Longest time before a deadline at which the other half asks which ranks are silent; at most one part in
     * {@link #ASK_PART} of the deadline.
     */
    private static final long ASK_MOST_NANOS = 250_000_000;

    private static final int ASK_PART = 4;
    /** Least time for an answer, even if the deadline is over. */
    private static final long ANSWER_LEAST_NANOS = 100_000_000;

    private final WorkQueue queue;
    private final Thread thread;
    /** Nanoseconds until the next poll, measured from the last one; {@link #ASLEEP} if there is none. */
    private volatile long lookAfterNanos = ASLEEP;

    private volatile boolean ended;
    private boolean settled;
    private Expiry expiry;
    /** Operation that was reported as late. */
    private NcclWork warnedOf;
    /** The silent ranks, as the other half reported them before a deadline, and how long that is valid. */
    private CompletableFuture<Set<Integer>> silent;

    private Deadline silentUntil;

    /** An operation past its deadline, while the store is asked for the missing ranks. */
    private record Expiry(NcclWork work, Deadline bound) {}

    Watchdog(WorkQueue queue) {
        this.queue = queue;
        thread = new Thread(this::run, queue.identity().threadName("watchdog"));
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Makes sure that a deadline is watched. */
    void watch(Deadline deadline) {
        if (lookAfterNanos == ASLEEP || deadline.remainingNanos() < lookAfterNanos) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes sure that raw calls are watched. */
    void watchRaw() {
        if (lookAfterNanos == ASLEEP) {
            LockSupport.unpark(thread);
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread, which may be in an abort; the abort is bounded. */
    void end() {
        ended = true;
        wake();
        if (Thread.currentThread() == thread) {
            return;
        }
        boolean interrupted = false;
        try {
            thread.join(LOOK_NANOS / 1_000_000);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!ended) {
            lookAfterNanos = lookAnyway();
            if (lookAfterNanos == ASLEEP) {
                // an operation that came before this decision has read the old value
                if (isIdle() || settled) {
                    LockSupport.park(this);
                }
            } else {
                LockSupport.parkNanos(this, lookAfterNanos);
            }
        }
    }

    private boolean isIdle() {
        return queue.oldest() == null && queue.failure() == null && !queue.hasRawCalls();
    }

    /**
     * Polls and survives any exception. Callers wait for this thread, so nothing may end it: a failure here ends the
     * group.
     */
    private long lookAnyway() {
        try {
            return look();
        } catch (Throwable thrown) {
            try {
                LOG.log(Level.WARNING, "the watchdog of " + queue.identity() + " failed", thrown);
                queue.firstFailure().failedNatively(queue.lastOperation(), thrown);
            } catch (Throwable again) {
                // the failure is set nevertheless, and the next poll settles it
                thrown.addSuppressed(again);
            }
            return LOOK_NANOS;
        }
    }

    /** Polls once. Returns the nanoseconds until the next poll. */
    private long look() {
        if (queue.failure() != null) {
            if (!settled) {
                settled = true;
                queue.firstFailure().settle();
            }
            return ASLEEP;
        }
        NcclWork oldest = queue.oldest();
        if (oldest == null) {
            expiry = null;
        }
        if (oldest == null && !queue.hasRawCalls()) {
            return ASLEEP;
        }
        NcclOperation operation = queue.lastOperation();
        Optional<FerroException> told = queue.comm().asyncFailure(operation);
        if (told.isPresent()) {
            // the wrapped exception has only the message of NCCL
            queue.firstFailure().failedNatively(operation, told.get().getCause());
            return 0;
        }
        if (oldest == null) {
            return LOOK_NANOS;
        }
        queue.records().whilePending(oldest, queue::fail);
        return nextLook(oldest);
    }

    private long nextLook(NcclWork oldest) {
        long next = LOOK_NANOS;
        for (NcclWork work : queue.pending()) {
            if (!work.isDone() && work.deadline().passed()) {
                return expire(oldest, work);
            }
            next = Math.min(next, askInTime(work));
        }
        long patience =
                queue.records().patienceNanos(oldest) - oldest.deadline().elapsedNanos();
        if (patience > 0) {
            next = Math.min(next, patience);
        }
        return warnedOf == oldest ? next : Math.min(next, warnIfLate(oldest));
    }

    /**
     * Asks which ranks are silent, so that the answers are known at the deadline. Returns the nanoseconds until the
     * next call is needed.
     */
    private long askInTime(NcclWork work) {
        Deadline deadline = work.deadline();
        long left = deadline.remainingNanos();
        long untilAsked = left - askNanos(deadline.lengthMillis() * 1_000_000);
        if (untilAsked > 0) {
            return untilAsked;
        }
        if (silent == null || silentUntil.passed()) {
            Duration within = Duration.ofNanos(Math.max(left, ANSWER_LEAST_NANOS));
            silent = queue.firstFailure().silentRanks(within);
            silentUntil = queue.deadline(within.plusNanos(ANSWER_LEAST_NANOS));
        }
        return left;
    }

    private static long askNanos(long lengthNanos) {
        return Math.min(ASK_MOST_NANOS, lengthNanos / ASK_PART);
    }

    /** Reports at a quarter of the deadline which ranks are waited for. Returns the nanoseconds until then. */
    private long warnIfLate(NcclWork oldest) {
        Deadline deadline = oldest.deadline();
        long quarter = deadline.lengthMillis() * 1_000_000 / PART_BEFORE_WARNING;
        long left = quarter - deadline.elapsedNanos();
        if (left > 0) {
            return left;
        }
        warnedOf = oldest;
        queue.firstFailure()
                .silentRanks(Duration.ofNanos(askNanos(quarter)))
                .thenAccept(ranks -> queue.records().absentees(oldest, waited -> {
                    if (!oldest.isDone()) {
                        queue.firstFailure().late(oldest, waited.butSilent(ranks));
                    }
                }));
        return LOOK_NANOS;
    }

    /**
     * Ends an operation past its deadline. The ranks to blame are those that the oldest operation waits for. The store
     * and the other half name them, if they answer in time.
     */
    private long expire(NcclWork oldest, NcclWork late) {
        if (expiry == null || expiry.work != late) {
            askInTime(late);
            CompletableFuture<Set<Integer>> asked = silent;
            expiry = new Expiry(late, queue.deadline(ABSENTEES_BOUND));
            queue.records()
                    .absentees(
                            oldest,
                            waited -> asked.thenAccept(ranks -> timedOut(oldest, late, waited.butSilent(ranks))));
        } else if (expiry.bound.passed()) {
            timedOut(oldest, late, Waited.unknown().butSilent(silent.getNow(Set.of())));
        }
        return expiry.bound.remainingNanos() + 1;
    }

    private void timedOut(NcclWork oldest, NcclWork late, Waited waited) {
        String head = oldest == late ? "" : ", queued behind " + oldest.print();
        // a message that is queued behind another operation has not waited for its own peer
        boolean waitedForPeer = oldest == late && late.title().isMessage();
        String ends = waitedForPeer ? " gave up on rank " + late.title().peer() : " timed out";
        String text = late.title().print() + ends + " after " + late.deadline().lengthMillis() + " ms" + head + ": "
                + waited.text() + "; the communicator is aborted, join again";
        queue.fail(queue.identity().failure(Code.TIMED_OUT, waited.culprits(), text, null));
    }
}
