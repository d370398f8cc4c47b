package ferro.backend.nccl;

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
 * The thread that ends what the device thread cannot: operations past their deadline, failures that NCCL tells only when it
 * is asked, failures of other ranks. It waits for nothing but the native abort, which is bounded.
 *
 * <p>Of raw calls, which have no deadline, it only sees the failures that NCCL tells, until their stream is synchronised.
 *
 * <p>While nothing is pending it sleeps; the first operation after that wakes it, the next ones only if their deadline is
 * nearer than its next look. In the healthy case it asks NCCL ten times a second and the store never.
 */
final class Watchdog {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    private static final long LOOK_NANOS = 100_000_000;
    private static final long ASLEEP = Long.MAX_VALUE;
    /** For the store to say who is missing, once a deadline has passed. */
    private static final Duration ABSENTEES_BOUND = Duration.ofMillis(800);

    private static final int PART_BEFORE_WARNING = 4;
    /** So long before a deadline, and at most this part of it, the ranks are asked whether they are there. */
    private static final long ASK_MOST_NANOS = 250_000_000;

    private static final int ASK_PART = 4;
    /** An answer may take so long even where the deadline is over. */
    private static final long ANSWER_LEAST_NANOS = 100_000_000;

    private final WorkQueue queue;
    private final Thread thread;
    /** Nanoseconds until the next look, measured from the last one; {@link #ASLEEP} if there is none. */
    private volatile long lookAfterNanos = ASLEEP;

    private volatile boolean ended;
    private boolean settled;
    private Expiry expiry;
    /** Operation that was said to be late. */
    private NcclWork warnedOf;
    /** Who is not there, as they were asked before a deadline, and how long that may count. */
    private CompletableFuture<Set<Integer>> silent;

    private Deadline silentUntil;

    /** An operation past its deadline, while the store is asked who is missing. */
    private record Expiry(NcclWork work, Deadline bound) {}

    Watchdog(WorkQueue queue) {
        this.queue = queue;
        thread = new Thread(this::run, queue.place().threadName("watchdog"));
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Sees to it that a deadline will be watched. */
    void watch(Deadline deadline) {
        if (lookAfterNanos == ASLEEP || deadline.remainingNanos() < lookAfterNanos) {
            LockSupport.unpark(thread);
        }
    }

    /** Sees to it that raw calls will be watched. */
    void watchRaw() {
        if (lookAfterNanos == ASLEEP) {
            LockSupport.unpark(thread);
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread; it may be in an abort, which is bounded. */
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
                // an operation that came while this was being decided has seen the old value
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

    /** Callers wait for what this thread does, so that nothing may end it: what goes wrong here ends the group. */
    private long lookAnyway() {
        try {
            return look();
        } catch (Throwable thrown) {
            try {
                LOG.log(Level.WARNING, "the watchdog of " + queue.place() + " failed", thrown);
                queue.failedNatively(queue.lastOperation(), thrown);
            } catch (Throwable again) {
                // the failure is set all the same, and the next look settles it
                thrown.addSuppressed(again);
            }
            return LOOK_NANOS;
        }
    }

    /** Looks once; returns nanoseconds until the next look. */
    private long look() {
        if (queue.failure() != null) {
            if (!settled) {
                settled = true;
                queue.settle();
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
            // what it wraps has the words of NCCL alone
            queue.failedNatively(operation, told.get().getCause());
            return 0;
        }
        if (oldest == null) {
            return LOOK_NANOS;
        }
        queue.notes().whilePending(oldest, queue::fail);
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
        long patience = queue.notes().patienceNanos(oldest) - oldest.deadline().elapsedNanos();
        if (patience > 0) {
            next = Math.min(next, patience);
        }
        return warnedOf == oldest ? next : Math.min(next, warnIfLate(oldest));
    }

    /** Asks who is there, so that the answers are known at the deadline; returns nanoseconds until it is time for the next. */
    private long askInTime(NcclWork work) {
        Deadline deadline = work.deadline();
        long left = deadline.remainingNanos();
        long untilAsked = left - askNanos(deadline.lengthMillis() * 1_000_000);
        if (untilAsked > 0) {
            return untilAsked;
        }
        if (silent == null || silentUntil.passed()) {
            Duration within = Duration.ofNanos(Math.max(left, ANSWER_LEAST_NANOS));
            silent = queue.silentRanks(within);
            silentUntil = queue.deadline(within.plusNanos(ANSWER_LEAST_NANOS));
        }
        return left;
    }

    private static long askNanos(long lengthNanos) {
        return Math.min(ASK_MOST_NANOS, lengthNanos / ASK_PART);
    }

    /** Says at a quarter of the deadline who is waited for; returns nanoseconds until then. */
    private long warnIfLate(NcclWork oldest) {
        Deadline deadline = oldest.deadline();
        long quarter = deadline.lengthMillis() * 1_000_000 / PART_BEFORE_WARNING;
        long left = quarter - deadline.elapsedNanos();
        if (left > 0) {
            return left;
        }
        warnedOf = oldest;
        queue.silentRanks(Duration.ofNanos(askNanos(quarter)))
                .thenAccept(ranks -> queue.notes().absentees(oldest, waited -> {
                    if (!oldest.isDone()) {
                        queue.late(oldest, waited.butSilent(ranks));
                    }
                }));
        return LOOK_NANOS;
    }

    /** The ranks to blame are those that the oldest operation waits for; the store and the other half know, if they are quick. */
    private long expire(NcclWork oldest, NcclWork late) {
        if (expiry == null || expiry.work != late) {
            askInTime(late);
            CompletableFuture<Set<Integer>> asked = silent;
            expiry = new Expiry(late, queue.deadline(ABSENTEES_BOUND));
            queue.notes()
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
        String text = late.title().print() + " timed out after "
                + late.deadline().lengthMillis() + " ms" + head + ": " + waited.text()
                + "; the communicator is aborted, join again";
        queue.fail(new GroupFailure(Code.TIMED_OUT, waited.culprits(), text, null));
    }
}
