package ferro.collectives;

import ferro.GroupEvent;
import ferro.spi.GroupSpec;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Who hears what happens to a group: in order, one at a time, never on a thread that drives links. Thread-safe. */
final class Listeners {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private final GroupSpec group;
    private final Executor executor;
    private final boolean logs;
    private final List<Consumer<GroupEvent>> listeners = new ArrayList<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private GroupEvent failed;
    private boolean running;

    Listeners(GroupSpec group, Executor executor, boolean logs) {
        this.group = group;
        this.executor = executor;
        this.logs = logs;
    }

    /** Adds a listener; one that comes after the failure hears of the failure. */
    synchronized void add(Consumer<GroupEvent> listener) {
        listeners.add(listener);
        if (failed != null) {
            GroupEvent last = failed;
            later(() -> listener.accept(last));
        }
    }

    /** Tells all, unless the group has failed: that is the last thing to hear. */
    synchronized void tell(GroupEvent event) {
        if (failed != null) {
            return;
        }
        if (event.kind() == GroupEvent.Kind.FAILED) {
            failed = event;
        }
        if (logs && event.kind() == GroupEvent.Kind.LATE) {
            later(() -> LOG.log(Level.WARNING, event.text()));
        }
        for (Consumer<GroupEvent> listener : listeners) {
            later(() -> listener.accept(event));
        }
    }

    private void later(Runnable task) {
        tasks.add(task);
        if (!running) {
            start();
        }
    }

    private void start() {
        try {
            running = true;
            executor.execute(this::run);
        } catch (RuntimeException | Error refused) {
            // the next event tries again, and tells this one first; who tells of it must go on
            running = false;
            LOG.log(Level.WARNING, "listeners of group \"" + group.name() + "\" cannot be told yet", refused);
        }
    }

    private void run() {
        for (Runnable task = next(); task != null; task = next()) {
            try {
                task.run();
            } catch (RuntimeException | Error failure) {
                LOG.log(Level.WARNING, "a listener of group \"" + group.name() + "\" failed", failure);
            }
        }
    }

    private synchronized Runnable next() {
        Runnable task = tasks.poll();
        running = task != null;
        return task;
    }
}
