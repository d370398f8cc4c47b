package ferro.collectives.engine;

import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.engine.shm.LocalPeers;
import ferro.control.group.GracefulExit;
import ferro.control.group.GroupControl;
import ferro.control.group.GroupDeparture;
import ferro.control.group.LeftGroups;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Closes a group on one rank: waits for queued work, says goodbye, ends the links in good order, and releases the transport
 * once no other rank can lose data by that. Only the close of the last group of a rank waits for that moment.
 */
final class Closing implements LeftGroups.OpenGroup {
    private static final long LOCK_NANOS = 2_000_000_000L;
    /**
     * Part of the bound of a close that is reserved for the release of the transport, which waits for its last frames and for
     * the store. A bound below twice this reserves half of itself.
     */
    private static final long RELEASE_NANOS = 250_000_000L;

    private final PendingCalls calls;
    private final ClosingParts parts;
    private final GroupDeparture ending;
    private volatile boolean asked;
    private volatile boolean ended;
    /** Whether the close has returned before the links could be ended: then no thread waits any more. */
    private boolean late;
    /** Whether this was the last group of its rank, and whether other ranks may still need it. */
    private boolean last;

    private boolean needed;
    private GracefulExit leaving;

    /**
     * The parts of the group to close.
     *
     * @param transport  medium
     * @param group      the group
     * @param context    clock
     * @param identity   its identity among all groups of the same processes
     * @param loop       ends the links with the progress lock held
     * @param control    tells the other ranks
     * @param localPeers releases shared memory
     */
    record ClosingParts(
            Transport transport,
            GroupSpec group,
            RankContext context,
            GroupIdentity identity,
            ProgressLoop loop,
            GroupControl control,
            LocalPeers localPeers) {}

    Closing(PendingCalls calls, ClosingParts parts) {
        this.calls = calls;
        this.parts = parts;
        this.ending = new GroupDeparture(parts.control, calls);
    }

    /** Ends the group; its calls are refused already. */
    void close(Duration timeout, boolean stepped) {
        long nanos = Deadlines.nanos(timeout);
        long end = parts.context.nanoTime() + nanos;
        long until = end - Math.min(RELEASE_NANOS, nanos / 2);
        if (stepped) {
            ending.failUnfinished(timeout);
        } else {
            ending.finish(timeout, until);
        }
        parts.loop.close();
        asked = true;
        settleWithLock(end);
        synchronized (this) {
            late = !ended;
        }
        if (last) {
            parts.identity.left().await(this, until).forEach(group -> group.release(left(end)));
        } else if (stepped && needed) {
            releaseLater(until);
        }
    }

    /** Releases the group after a time by a timer, where no thread can wait. */
    private void releaseLater(long until) {
        long nanos = until - parts.context.nanoTime();
        Future<?> timer = parts.context.background().schedule(this::over, nanos, TimeUnit.NANOSECONDS);
        leaving.whenOver(() -> timer.cancel(false));
    }

    /** Returns the time until the end of a close, at least {@link #RELEASE_NANOS}, so that the last frames can leave. */
    private Duration left(long end) {
        return Duration.ofNanos(Math.max(RELEASE_NANOS, end - parts.context.nanoTime()));
    }

    /** Ends the links on the thread that holds the progress lock, so that no call is inside them. */
    private void settleWithLock(long end) {
        parts.loop.failed();
        calls.look(Math.min(LOCK_NANOS, left(end).toNanos()), () -> !ended, parts.loop::failed);
    }

    @Override
    public boolean hasFailed() {
        return parts.control.failure() != null;
    }

    /** Returns whether the links wait to be ended by the thread that holds the progress lock; any thread. */
    boolean wantsLock() {
        return asked && !ended;
    }

    /** Ends the links if that was asked for; called with the progress lock held. */
    void settle() {
        if (wantsLock()) {
            try {
                leave();
            } finally {
                if (endedLate()) {
                    long now = parts.context.nanoTime();
                    parts.identity.left().await(this, now).forEach(group -> group.release(left(now)));
                }
            }
        }
    }

    private synchronized boolean endedLate() {
        ended = true;
        return late && last;
    }

    private void leave() {
        try {
            parts.identity.membership().leave(parts.control);
        } finally {
            endLinks();
        }
    }

    private void endLinks() {
        try {
            leaving = parts.control.leave(losers(), until());
            needed = parts.transport.leave();
        } finally {
            last = parts.identity.left().leave(this, needed);
            try {
                parts.localPeers.close();
            } finally {
                if (needed) {
                    leaving.whenOver(this::over);
                } else {
                    parts.transport.close();
                }
            }
        }
    }

    private GracefulExit.ExitLimit until() {
        if (parts.control.failure() != null) {
            return GracefulExit.ExitLimit.ALL_HAVE_HEARD;
        }
        return parts.transport.servesOthers()
                ? GracefulExit.ExitLimit.ALL_HAVE_LEFT
                : GracefulExit.ExitLimit.ALL_HAVE_ALL;
    }

    @Override
    public GracefulExit exit(String signal) {
        return ending.exit(signal) ? parts.control.leave(losers(), until()) : null;
    }

    /** Returns what is common to the ends of all groups. */
    GroupDeparture ending() {
        return ending;
    }

    /** Returns the ranks that may lose data of collectives that they have not yet taken if this process ends. */
    private BitSet losers() {
        BitSet losers = new BitSet();
        for (int peer = 0; peer < parts.group.worldSize(); peer++) {
            losers.set(peer, peer != parts.group.rank() && parts.transport.mayLose(peer, Lane.COLLECTIVE));
        }
        return losers;
    }

    private void over() {
        if (parts.identity.left().isOver(this)) {
            parts.transport.close();
        }
    }

    @Override
    public void release(Duration within) {
        parts.transport.close(within);
    }
}
