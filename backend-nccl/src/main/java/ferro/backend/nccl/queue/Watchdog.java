package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.control.failure.Diagnosis;
import ferro.control.group.CallWatch;
import ferro.control.group.GracefulExits;
import ferro.control.group.TimeoutProbe;
import ferro.spi.CallHeader;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that ends operations that the device thread cannot end. It ends them after a deadline has passed, after a
 * failure that NCCL reports only to a poll, or after a failure of another rank. The watchdog waits only for the native
 * abort, for a limited time.
 *
 * <p>Raw calls have no deadline. For raw calls the watchdog only polls NCCL for failures until their stream is
 * synchronized.
 *
 * <p>The watchdog also gives {@link CallWatch} the facts about the calls. {@link CallWatch} asks the other ranks,
 * because NCCL does not report for which rank a call waits.
 *
 * <p>While no operation is pending, the watchdog sleeps. The first operation wakes the watchdog. Later operations wake
 * the watchdog only if their deadline is before the next poll. Without a failure or a slow operation the watchdog polls
 * NCCL ten times a second.
 */
final class Watchdog implements CallWatch.CallAccess<NcclWork> {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");
    private static final long LOOK_NANOS = 100_000_000;
    private static final long ASLEEP = Long.MAX_VALUE;
    private final GroupFailureState failures;
    private final PendingWorks pending;
    private final Thread thread;
    /** Nanoseconds from the last poll to the next poll; {@link #ASLEEP} while no poll is planned. */
    private volatile long lookAfterNanos = ASLEEP;

    private volatile boolean ended;
    private boolean settled;
    private final ControlMessenger control;
    private final CallWatch<NcclWork> calls;
    private NcclWork watched;

    Watchdog(GroupFailureState failures, ControlMessenger control) {
        this.failures = failures;
        this.pending = failures.pending();
        this.control = control;
        this.calls = new CallWatch<>(control.group(), this);
        thread = new Thread(this::run, failures.identity().threadName("watchdog"));
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Makes sure that the watchdog polls before a deadline passes. */
    void watch(Deadline deadline) {
        if (lookAfterNanos == ASLEEP || deadline.remainingNanos() < lookAfterNanos) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes sure that the watchdog polls for failures of raw calls. */
    void watchRaw() {
        if (lookAfterNanos == ASLEEP) {
            LockSupport.unpark(thread);
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread. If the thread is in an abort, it ends after the abort, which has a time limit. */
    void end() {
        ended = true;
        wake();
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(LOOK_NANOS / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!ended) {
            lookAfterNanos = lookAnyway();
            if (lookAfterNanos == ASLEEP) {
                // checks again: an operation that was added before ASLEEP was set has not woken this thread
                if (isIdle() || settled) {
                    LockSupport.park(this);
                }
            } else {
                LockSupport.parkNanos(this, lookAfterNanos);
            }
        }
    }

    private boolean isIdle() {
        return pending.oldest() == null && failures.get() == null && !pending.hasRawCalls();
    }

    /**
     * Polls, and handles every exception. An exception ends only the group and not this thread, because callers wait
     * for this thread.
     */
    private long lookAnyway() {
        try {
            return look();
        } catch (Throwable thrown) {
            try {
                LOG.log(Level.WARNING, "the watchdog of " + failures.identity() + " failed", thrown);
                failures.failedNatively(pending.lastOperation(), thrown);
            } catch (Throwable again) {
                // the group's failure is set in spite of this exception, and the next poll handles it
                thrown.addSuppressed(again);
            }
            return LOOK_NANOS;
        }
    }

    /** Polls once. Returns the nanoseconds until the next poll. */
    private long look() {
        if (failures.get() != null) {
            if (!settled) {
                settled = true;
                failures.settle();
            }
            return ASLEEP;
        }
        NcclWork oldest = pending.oldest();
        if (oldest == null && !pending.hasRawCalls()) {
            return ASLEEP;
        }
        NcclOperation operation = pending.lastOperation();
        Optional<FerroException> thrown = failures.comm().asyncFailure(operation);
        if (thrown.isPresent()) {
            // uses the cause, whose message is that of NCCL only
            failures.failedNatively(operation, thrown.get().getCause());
            return 0;
        }
        if (oldest == null) {
            return LOOK_NANOS;
        }
        return Math.min(LOOK_NANOS, check(oldest));
    }

    private long check(NcclWork oldest) {
        if (oldest != watched) {
            watched = oldest;
            calls.begin();
        }
        refuseToWaitForLeaver(oldest);
        NcclWork behind = pending.firstBehind(oldest);
        long now = oldest.deadline().nowNanos();
        calls.poll(oldest, behind, now);
        return calls.untilNext(oldest, behind, now);
    }

    @Override
    public CallHeader header(NcclWork work) {
        return work.title().isMessage() ? null : control.headerOf(work);
    }

    @Override
    public long begunNanos(NcclWork work) {
        return work.deadline().startNanos();
    }

    @Override
    public long deadlineNanos(NcclWork work) {
        return work.deadline().endNanos();
    }

    @Override
    public BitSet waitingFor(NcclWork work) {
        BitSet peers = new BitSet();
        if (work.title().isMessage() && work.title().peer() >= 0) {
            peers.set(work.title().peer());
        }
        return peers;
    }

    /** Returns the ranks to blame for a timeout. A rank that has made the same call is not to blame. */
    @Override
    public Diagnosis.Blame judge(TimeoutProbe asked, NcclWork work) {
        if (!control.knowsOthers()) {
            return new Diagnosis.Blame(
                    new BitSet(), "another rank is late, gone, or made another call, which is not known here", false);
        }
        long begun = work.deadline().startNanos();
        if (work.title().isMessage()) {
            BitSet peer = new BitSet();
            peer.set(work.title().peer());
            Diagnosis.Blame verdict = asked.waiting(begun, peer, work.title().print(), 0);
            // if the peer has answered the last question with a goodbye, the exit of the peer is the cause
            refuseToWaitForLeaver(work);
            return verdict;
        }
        Diagnosis.Blame verdict = asked.collective(work.sequence(), begun, new BitSet(), 0);
        return verdict.culprits().isEmpty()
                ? new Diagnosis.Blame(new BitSet(), "all ranks have called it; " + verdict.text(), false)
                : verdict;
    }

    @Override
    public String describe(NcclWork running, NcclWork late) {
        return late.print() + (late == running ? "" : ", which is queued behind " + running.print());
    }

    @Override
    public String alone() {
        return "";
    }

    /**
     * Ends the group if the peer of a message has left without making its call for this message, because the message
     * can never complete.
     */
    private void refuseToWaitForLeaver(NcclWork message) {
        GracefulExits exits = control.group().exits();
        int peer = message.title().peer();
        if (peer < 0) {
            return;
        }
        exits.follow(peer);
        if (!exits.has(peer)) {
            return;
        }
        boolean receives = message.title().operation() == NcclOperation.RECV;
        long made = receives ? exits.sentBy(peer) : exits.takenBy(peer);
        if (message.number() > made) {
            exits.fail(
                    peer,
                    "it has " + (receives ? "sent " : "taken ") + made + " messages "
                            + (receives ? "to" : "from") + " this rank, and this call is for message "
                            + message.number() + " (" + message.title().print() + ")");
        }
    }
}
