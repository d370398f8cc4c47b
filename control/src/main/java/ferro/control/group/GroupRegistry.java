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
 * The groups of one joined group on one rank: groups that are open, and groups that this rank has left while other
 * ranks may still need this rank. Leaving a group does not wait, unless the group is the last open group. After the
 * last group the process may end, and data in flight would be lost. The exit of the JVM also waits if groups are open,
 * so that no data in flight is lost. Thread-safe.
 */
public final class GroupRegistry {
    /**
     * The longest wait of the last close, or of the exit of the JVM, after a failure. During the wait, other ranks can
     * receive the cause of the failure and ask questions.
     */
    private static final long FAILED_NANOS = 1_000_000_000L;

    /**
     * The context of the rank; null if progress is stepped, because no thread can wait in that case. With stepped
     * progress, a thread releases a group when it receives the message after which no rank needs the group.
     */
    private final RankContext context;

    private final ExitTask.Stage stage;
    private final Set<OpenGroup> open = new LinkedHashSet<>();
    private final Set<OpenGroup> needed = new HashSet<>();
    /** Groups that no rank needs any more. The last close releases all of these groups before it returns. */
    private final Set<OpenGroup> over = new HashSet<>();

    /** The leaves of the groups that were open when the JVM began to exit. */
    private final List<GracefulExit> exits = new ArrayList<>();

    private boolean anyFailed;
    private List<ExitTask.Handle> atExit = List.of();

    /** A group that was created and is not yet released. */
    public interface OpenGroup {
        /**
         * Leaves an open group at the exit of the JVM. Sends a goodbye if no call is in flight, otherwise fails the
         * group. Does not wait. Returns the leave for which the caller has to wait, or null if no wait is needed.
         */
        GracefulExit exit(String signal);

        /** Returns whether the group has failed. */
        boolean hasFailed();

        /** Closes the medium of the group. Called when no rank needs the group any more, or at the deadline. */
        void release(Duration within);
    }

    private GroupRegistry(RankContext context, ExitTask.Stage stage) {
        this.context = context;
        this.stage = stage;
    }

    /** Creates an empty set of groups for a context. The groups leave at the given stage of the exit of the JVM. */
    public static GroupRegistry of(RankContext context, ExitTask.Stage stage) {
        return new GroupRegistry(context, stage);
    }

    /** Creates an empty set of groups whose close does not wait. */
    public static GroupRegistry stepped() {
        return new GroupRegistry(null, ExitTask.Stage.GROUPS);
    }

    /** Adds a group that was created. */
    public synchronized void enter(OpenGroup group) {
        open.add(group);
        if (context != null && atExit.isEmpty()) {
            atExit = List.of(
                    context.atExit(stage, this::leave), context.atExit(ExitTask.Stage.GROUPS, this::awaitExits));
        }
    }

    /**
     * Removes a group that this rank leaves. Returns whether no other group is open. If the result is true, the caller
     * has to wait for all groups that other ranks still need.
     */
    public synchronized boolean leave(OpenGroup group, boolean isNeeded) {
        open.remove(group);
        if (isNeeded) {
            needed.add(group);
        }
        return open.isEmpty() && context != null;
    }

    /** Records that no rank needs a group any more. Returns whether the caller has to release the group. */
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
     * Waits until no rank needs a group, the given time is reached, or the thread is interrupted. The interrupt status
     * of the thread stays set. If the last group has failed, the wait is short. Returns all groups to release.
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

    /** Begins the exit of the JVM. Each open group sends goodbyes or fails. */
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

    /** Delays the exit of the JVM until other ranks have received all data, or the time for the wait is over. */
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
