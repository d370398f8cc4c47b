package ferro.control.group;

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
public final class LeftGroups {
    /** How long after a failure the last close and a JVM's exit wait, for other ranks to hear the reason and ask. */
    private static final long FAILED_NANOS = 1_000_000_000L;

    /**
     * Null where no thread can wait, because progress is stepped: then each group is released by the thread that hears that
     * no rank needs it any more.
     */
    private final RankContext context;

    private final ExitTask.Stage stage;
    private final Set<OpenGroup> open = new LinkedHashSet<>();
    private final Set<OpenGroup> needed = new HashSet<>();
    /** Groups that no rank needs any more; the last close releases them, so that nothing is left when it returns. */
    private final Set<OpenGroup> over = new HashSet<>();

    /** The leaves of the groups that were open when the JVM began to exit. */
    private final List<GracefulExit> exits = new ArrayList<>();

    private boolean anyFailed;
    private List<ExitTask.Handle> atExit = List.of();

    /** A group that was made and is not yet released. */
    public interface OpenGroup {
        /**
         * Leaves the group when the JVM exits with the group open: says goodbye if nothing is in flight, else fails the group.
         * Does not wait. Returns the leave to wait for, or null if there is none.
         */
        GracefulExit exit(String signal);

        /** Returns whether it has failed. */
        boolean hasFailed();

        /** Closes its medium; called when no rank needs it any more, or the time is over. */
        void release(Duration within);
    }

    private LeftGroups(RankContext context, ExitTask.Stage stage) {
        this.context = context;
        this.stage = stage;
    }

    /** Makes an empty one for the groups of a context, which leave at a stage of the exit of the JVM. */
    public static LeftGroups of(RankContext context, ExitTask.Stage stage) {
        return new LeftGroups(context, stage);
    }

    /** Makes an empty one for groups whose close does not wait. */
    public static LeftGroups stepped() {
        return new LeftGroups(null, ExitTask.Stage.GROUPS);
    }

    /** Adds a group that was made. */
    public synchronized void enter(OpenGroup group) {
        open.add(group);
        if (context != null && atExit.isEmpty()) {
            atExit = List.of(
                    context.atExit(stage, this::leave), context.atExit(ExitTask.Stage.GROUPS, this::awaitExits));
        }
    }

    /**
     * Removes a group that this rank leaves. Returns whether no other group is open, so that the caller waits for all that
     * are needed.
     */
    public synchronized boolean leave(OpenGroup group, boolean isNeeded) {
        open.remove(group);
        if (isNeeded) {
            needed.add(group);
        }
        return open.isEmpty() && context != null;
    }

    /** Notes that no rank needs a group any more; returns whether the caller has to release it. */
    public synchronized boolean isOver(OpenGroup group) {
        if (!needed.remove(group)) {
            return false;
        }
        notifyAll();
        cancelIfOver();
        if (!open.isEmpty() || context == null) {
            return true;
        }
        over.add(group);
        return false;
    }

    /**
     * Waits until no group is needed, a time has come, or the thread is interrupted, whose flag stays set. After a failure
     * of the last group the wait is short. Returns all groups to release.
     */
    public synchronized List<OpenGroup> await(OpenGroup last, long untilNanos) {
        try {
            awaitNeeded(until(last.hasFailed(), untilNanos));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        over.addAll(needed);
        needed.clear();
        List<OpenGroup> all = List.copyOf(over);
        over.clear();
        cancelIfOver();
        return all;
    }

    private void cancelIfOver() {
        if (open.isEmpty() && needed.isEmpty()) {
            atExit.forEach(ExitTask.Handle::cancel);
            atExit = List.of();
        }
    }

    private long until(boolean hasFailed, long untilNanos) {
        long soon = context.nanoTime() + FAILED_NANOS;
        return hasFailed && soon - untilNanos < 0 ? soon : untilNanos;
    }

    /** Begins the exit of the JVM: open groups say goodbye, or fail. */
    private void leave(ExitTask.JvmExit exit) {
        List<OpenGroup> groups;
        synchronized (this) {
            groups = new ArrayList<>(open);
        }
        for (OpenGroup group : groups) {
            GracefulExit leave = group.exit(exit.signal());
            synchronized (this) {
                if (leave != null) {
                    exits.add(leave);
                }
                anyFailed |= group.hasFailed();
            }
        }
    }

    /** Gives the other ranks time to receive what was sent, before the JVM exits. */
    private void awaitExits(ExitTask.JvmExit exit) {
        List<GracefulExit> leaving;
        long until;
        synchronized (this) {
            leaving = new ArrayList<>(exits);
            until = until(anyFailed, exit.untilNanos());
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
