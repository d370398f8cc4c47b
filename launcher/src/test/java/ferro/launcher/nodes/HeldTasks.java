package ferro.launcher.nodes;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs tasks at once, and leaves those with a delay to the test. */
final class HeldTasks extends ScheduledThreadPoolExecutor {
    final List<Runnable> held = new CopyOnWriteArrayList<>();

    HeldTasks() {
        super(1);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (delay == 0) {
            return super.schedule(task, delay, unit);
        }
        held.add(task);
        return null;
    }
}
