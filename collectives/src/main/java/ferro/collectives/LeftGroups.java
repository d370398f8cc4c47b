package ferro.collectives;

import ferro.collectives.control.Leaving;
import ferro.spi.ExitTask;
import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The groups that were made from one joined group on one rank: which are open, and which this rank has left while others may
 * still need something of it. Leaving a group waits for nobody, unless it is the last one: then the process may end, and what
 * is still on its way would end with it. So it is where the JVM ends with groups open. Thread-safe.
 */
final class LeftGroups {
    /** After a failure the last close, and the end of a JVM, stay so long for others to hear why, and to ask. */
    static final long FAILED_NANOS = 1_000_000_000L;

    /** Null where nobody can wait, as somebody else drives: then every group is released by whoever hears last. */
    private final RankContext context;

    private final Set<Closing> open = new LinkedHashSet<>();
    private final Set<Closing> needed = new HashSet<>();
    /** Groups that nobody needs, for whoever closes the last one: nothing is left when its close returns. */
    private final Set<Closing> over = new HashSet<>();

    private ExitTask.Handle atExit;

    private LeftGroups(RankContext context) {
        this.context = context;
    }

    /** Makes an empty one for the groups of a context. */
    static LeftGroups of(RankContext context) {
        return new LeftGroups(context);
    }

    /** Makes an empty one for groups whose close waits for nobody. */
    static LeftGroups stepped() {
        return new LeftGroups(null);
    }

    /** A group was made. */
    synchronized void enter(Closing group) {
        open.add(group);
        if (context != null && atExit == null) {
            atExit = context.atExit(ExitTask.Stage.GROUPS, this::exit);
        }
    }

    /**
     * A group is left.
     *
     * @param isNeeded whether other ranks may still need it
     * @return whether no other is open, so that the caller waits for all that are needed
     */
    synchronized boolean leave(Closing group, boolean isNeeded) {
        open.remove(group);
        if (isNeeded) {
            needed.add(group);
        }
        return open.isEmpty() && context != null;
    }

    /** No rank needs a group any more; returns whether the caller is to release it. */
    synchronized boolean isOver(Closing group) {
        if (!needed.remove(group)) {
            return false;
        }
        notifyAll();
        if (!open.isEmpty() || context == null) {
            return true;
        }
        over.add(group);
        return false;
    }

    /** Waits until no group is needed, a time, or an interrupt, whose flag stays set; returns all that are to be released. */
    synchronized List<Closing> await(long untilNanos) {
        try {
            awaitNeeded(untilNanos);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        over.addAll(needed);
        needed.clear();
        List<Closing> all = List.copyOf(over);
        over.clear();
        if (atExit != null && open.isEmpty()) {
            atExit.cancel();
            atExit = null;
        }
        return all;
    }

    /** The JVM ends: open groups say goodbye, or fail, and the others are given time to have what was sent. */
    private void exit(ExitTask.JvmExit exit) {
        List<Closing> groups;
        synchronized (this) {
            groups = new ArrayList<>(open);
        }
        List<Leaving> leaving = new ArrayList<>();
        long until = exit.untilNanos();
        for (Closing group : groups) {
            Leaving leave = group.exit(exit.signal());
            if (leave != null) {
                leaving.add(leave);
            }
            if (group.hasFailed()) {
                until = Math.min(until, context.nanoTime() + FAILED_NANOS);
            }
        }
        CountDownLatch open = new CountDownLatch(leaving.size());
        leaving.forEach(leave -> leave.whenOver(open::countDown));
        try {
            if (open.await(Math.max(0, until - context.nanoTime()), TimeUnit.NANOSECONDS)) {
                awaitNeeded(until);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void awaitNeeded(long untilNanos) throws InterruptedException {
        for (long left = 1; !needed.isEmpty() && left > 0; ) {
            left = untilNanos - context.nanoTime();
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
