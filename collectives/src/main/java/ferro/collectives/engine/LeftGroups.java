package ferro.collectives.engine;

import ferro.control.group.GracefulExit;
import ferro.spi.ExitTask;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The groups that were made from one joined group on one rank: those that are open, and those that this rank has left while
 * other ranks may still need it there. Leaving a group does not wait, unless it is the last one: then the process may end,
 * and data that is still on its way would be lost. The same holds when the JVM exits with groups open. Thread-safe.
 */
final class LeftGroups {
    /**
     * How long after a failure the last close, and the exit of a JVM, wait so that other ranks hear the reason, and can ask.
     */
    static final long FAILED_NANOS = 1_000_000_000L;

    /**
     * Null where no thread can wait, because progress is stepped: then each group is released by the thread that hears that
     * no rank needs it any more.
     */
    private final RankContext context;

    private final Set<OpenGroup> open = new LinkedHashSet<>();
    private final Set<OpenGroup> needed = new HashSet<>();
    /** Groups that no rank needs any more; the last close releases them, so that nothing is left when it returns. */
    private final Set<OpenGroup> over = new HashSet<>();

    private ExitTask.Handle atExit;

    /** A group that was made and is not yet released. */
    interface OpenGroup {
        /**
         * Leaves the group when the JVM exits with the group open: says goodbye if nothing is under way, else fails the group.
         * Does not take the progress lock, as the thread that holds it may never release it.
         *
         * @return leave to wait for, or null if the group was closed already
         */
        GracefulExit exit(String signal);

        /** Returns whether it has failed. */
        boolean hasFailed();

        /** Closes its medium within a time; no rank needs it any more. */
        void release(Duration within);
    }

    private LeftGroups(RankContext context) {
        this.context = context;
    }

    /** Makes an empty one for the groups of a context. */
    static LeftGroups of(RankContext context) {
        return new LeftGroups(context);
    }

    /** Makes an empty one for groups whose close does not wait. */
    static LeftGroups stepped() {
        return new LeftGroups(null);
    }

    /** Adds a group that was made. */
    synchronized void enter(OpenGroup group) {
        open.add(group);
        if (context != null && atExit == null) {
            atExit = context.atExit(ExitTask.Stage.GROUPS, this::exit);
        }
    }

    /**
     * Removes a group that this rank leaves.
     *
     * @param isNeeded whether other ranks may still need it
     * @return whether no other group is open, so that the caller waits for all that are needed
     */
    synchronized boolean leave(OpenGroup group, boolean isNeeded) {
        open.remove(group);
        if (isNeeded) {
            needed.add(group);
        }
        return open.isEmpty() && context != null;
    }

    /** Notes that no rank needs a group any more; returns whether the caller has to release it. */
    synchronized boolean isOver(OpenGroup group) {
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

    /**
     * Waits until no group is needed, a time has come, or the thread is interrupted, whose flag stays set; returns all
     * groups to release.
     */
    synchronized List<OpenGroup> await(long untilNanos) {
        try {
            awaitNeeded(untilNanos);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        over.addAll(needed);
        needed.clear();
        List<OpenGroup> all = List.copyOf(over);
        over.clear();
        if (atExit != null && open.isEmpty()) {
            atExit.cancel();
            atExit = null;
        }
        return all;
    }

    /** Handles the exit of the JVM: open groups say goodbye, or fail, and other ranks get time to receive what was sent. */
    private void exit(ExitTask.JvmExit exit) {
        List<OpenGroup> groups;
        synchronized (this) {
            groups = new ArrayList<>(open);
        }
        List<GracefulExit> leaving = new ArrayList<>();
        long until = exit.untilNanos();
        for (OpenGroup group : groups) {
            GracefulExit leave = group.exit(exit.signal());
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
