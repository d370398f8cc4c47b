package ferro.collectives;

import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Leaving;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The end of a group on one rank: waits for queued work, says goodbye, ends the links in good order, and gives the medium back
 * once no other rank can lose anything by it. Only the close of the last group of a rank waits for that.
 */
final class Closing {
    private static final long TURN_NANOS = 2_000_000_000L;
    private static final long LOOK_NANOS = 1_000_000L;
    /** At the end of a JVM a call that is over has so long to give its turn back. */
    private static final long OVER_NANOS = 20_000_000L;

    private final GroupEngine engine;
    private final Parts parts;
    private volatile boolean asked;
    private volatile boolean ended;
    private volatile boolean exit;
    /** Whether the close has returned before the links could be ended: then nobody waits any more. */
    private boolean late;
    /** Whether this was the last group of its rank, and whether other ranks may still need something of it. */
    private boolean last;

    private boolean needed;
    private Leaving leaving;

    /**
     * What ends.
     *
     * @param transport  medium
     * @param group      who
     * @param context    clock
     * @param place      among all groups of the same processes
     * @param loop       ends the links with the turn held
     * @param control    tells the others
     * @param neighbours gives shared memory back
     */
    record Parts(
            Transport transport,
            GroupSpec group,
            RankContext context,
            Place place,
            ProgressLoop loop,
            GroupControl control,
            Neighbours neighbours) {}

    Closing(GroupEngine engine, Parts parts) {
        this.engine = engine;
        this.parts = parts;
    }

    /** Ends the group; its calls are refused already. */
    void close(Duration timeout, boolean stepped) {
        long until = parts.context.nanoTime() + Deadlines.nanos(timeout);
        if (!stepped) {
            engine.finishQueued(until);
        }
        if (parts.control.failure() == null && !engine.isIdle()) {
            parts.control.fail(Reasons.closedTooEarly(parts.group, timeout));
        }
        if (parts.control.failure() == null) {
            parts.control.settleWithLeavers();
        }
        parts.loop.close();
        asked = true;
        settleByTurn();
        synchronized (this) {
            late = !ended;
        }
        if (last) {
            long bound = hasFailed() ? parts.context.nanoTime() + LeftGroups.FAILED_NANOS : until;
            parts.place.left().await(bound - until < 0 ? bound : until).forEach(Closing::release);
        } else if (stepped && needed) {
            releaseLater(until);
        }
    }

    /** Where nobody can wait, a timer is the bound. */
    private void releaseLater(long until) {
        long nanos = until - parts.context.nanoTime();
        Future<?> timer = parts.context.background().schedule(this::over, nanos, TimeUnit.NANOSECONDS);
        leaving.whenOver(() -> timer.cancel(false));
    }

    /** Whoever holds the turn ends the links, as nobody may be inside them then. */
    private void settleByTurn() {
        parts.loop.failed();
        look(TURN_NANOS, () -> !ended, parts.loop::failed);
    }

    /** Looks again and again, as nobody sends word, while something holds and for so long at most. */
    private void look(long nanos, BooleanSupplier holds, Runnable again) {
        long until = parts.context.nanoTime() + nanos;
        while (holds.getAsBoolean() && parts.context.nanoTime() - until < 0) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            again.run();
        }
    }

    boolean hasFailed() {
        return parts.control.failure() != null;
    }

    /** Returns whether the turn is wanted to end the links; any thread. */
    boolean wantsTurn() {
        return asked && !ended;
    }

    /** Ends the links if that is wanted; with the turn held. */
    void settle() {
        if (wantsTurn()) {
            try {
                end();
            } finally {
                if (endedLate()) {
                    parts.place.left().await(parts.context.nanoTime()).forEach(Closing::release);
                }
            }
        }
    }

    private synchronized boolean endedLate() {
        ended = true;
        return late && last;
    }

    private void end() {
        try {
            parts.place.membership().leave(parts.control);
        } finally {
            endLinks();
        }
    }

    private void endLinks() {
        try {
            leaving = parts.control.leave(losers(), until());
            needed = parts.transport.leave();
        } finally {
            last = parts.place.left().leave(this, needed);
            try {
                parts.neighbours.close();
            } finally {
                if (needed) {
                    leaving.whenOver(this::over);
                } else {
                    release();
                }
            }
        }
    }

    private Leaving.Until until() {
        if (parts.control.failure() != null) {
            return Leaving.Until.ALL_HAVE_HEARD;
        }
        return parts.transport.servesOthers() ? Leaving.Until.ALL_HAVE_LEFT : Leaving.Until.ALL_HAVE_ALL;
    }

    /**
     * The JVM ends with the group open: says goodbye where nothing is under way, else fails the group. Takes no turn, as whoever
     * has it may never give it back.
     *
     * @return leave to wait for, or null if the group was closed already
     */
    Leaving exit(String signal) {
        // before any call is refused for it
        exit = true;
        if (!engine.refuseCalls()) {
            exit = false;
            return null;
        }
        if (parts.control.failure() == null) {
            String stands = underWay();
            if (!signal.isEmpty()) {
                parts.control.fail(Reasons.endedBySignal(parts.group, signal, stands, engine.ended()));
            } else if (!stands.isEmpty()) {
                parts.control.fail(Reasons.exits(parts.group, stands));
            }
        }
        return parts.control.leave(losers(), until());
    }

    /** Whether it is the JVM's exit that ends the group. */
    boolean isExit() {
        return exit;
    }

    /** Says why a call comes too late. */
    RuntimeException refusal(String call) {
        return exit ? Reasons.refusedAtExit(parts.group, call) : Reasons.closed(parts.group, call);
    }

    /** Says what is under way, with a moment's patience for a call that is over but has not given its turn back. */
    private String underWay() {
        look(OVER_NANOS, () -> engine.isIdle() && !engine.underWay().isEmpty(), () -> {});
        return engine.underWay();
    }

    /** Returns the ranks that may lose what they have not yet taken of collectives if this process ends. */
    private BitSet losers() {
        BitSet losers = new BitSet();
        for (int peer = 0; peer < parts.group.worldSize(); peer++) {
            losers.set(peer, peer != parts.group.rank() && parts.transport.mayLose(peer, Lane.COLLECTIVE));
        }
        return losers;
    }

    private void over() {
        if (parts.place.left().isOver(this)) {
            release();
        }
    }

    private void release() {
        parts.transport.close();
    }
}
