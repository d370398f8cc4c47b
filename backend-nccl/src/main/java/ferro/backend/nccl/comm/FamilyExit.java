package ferro.backend.nccl.comm;

import ferro.spi.ExitTask;
import ferro.spi.ExitTask.JvmExit;
import ferro.spi.ExitTask.Stage;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Ends the open groups of a family when the JVM ends. In the first stage they take no more calls. A group fails if a
 * call is in progress or a signal ends the JVM, so that its other half reports the failure. A thread then says the
 * goodbyes, waits for those of the other ranks and ends the communicators, while the other half says its own goodbye.
 * The second stage waits for that thread: a native call that hangs delays the JVM no longer than the bound.
 */
final class FamilyExit {
    /** Time before the bound at which an abort comes if a goodbye is missing. */
    private static final Duration FOR_ABORT = Duration.ofMillis(250);

    private final RankContext context;
    private final Set<BackendEnding> open = new LinkedHashSet<>();
    private List<ExitTask.Handle> tasks = List.of();

    FamilyExit(RankContext context) {
        this.context = context;
    }

    synchronized void opened(BackendEnding group) {
        open.add(group);
        if (tasks.isEmpty()) {
            tasks = List.of(context.atExit(Stage.DEVICES, this::leave), context.atExit(Stage.GROUPS, this::await));
        }
    }

    /** Handles the close of a group. After the last one the family does nothing at the end of the JVM. */
    void closed(BackendEnding group) {
        List<ExitTask.Handle> over = List.of();
        synchronized (this) {
            open.remove(group);
            notifyAll();
            if (open.isEmpty()) {
                over = tasks;
                tasks = List.of();
            }
        }
        over.forEach(ExitTask.Handle::cancel);
    }

    private void leave(JvmExit exit) {
        List<BackendEnding> groups;
        synchronized (this) {
            groups = new ArrayList<>(open);
        }
        long until = exit.untilNanos() - FOR_ABORT.toNanos();
        for (BackendEnding group : List.copyOf(groups)) {
            if (group.hasFailed()) {
                until = Math.min(until, context.nanoTime() + BackendEnding.AFTER_FAILURE.toNanos());
            }
            if (!group.exit(exit.signal())) {
                groups.remove(group);
            }
        }
        if (!groups.isEmpty()) {
            long bound = until;
            Thread thread = new Thread(() -> end(groups, bound), groups.get(0).threadName("exit"));
            thread.setDaemon(true);
            thread.start();
        }
    }

    /**
     * Ends the groups. It says all goodbyes before the first wait: a rank that closes one group waits for the goodbyes
     * of other groups.
     */
    private void end(List<BackendEnding> groups, long until) {
        try {
            groups.forEach(group -> group.recordLeave(left(until)));
            groups.forEach(group -> group.close(left(until)));
        } finally {
            groups.forEach(this::closed);
        }
    }

    private Duration left(long until) {
        return Duration.ofNanos(Math.max(0, until - context.nanoTime()));
    }

    private synchronized void await(JvmExit exit) {
        try {
            for (long left = 1; !open.isEmpty() && left > 0; ) {
                left = exit.untilNanos() - context.nanoTime();
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
