package ferro.control.group;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** A context with the clock of the machine, one thread for timers, and no settings. */
final class RealTime implements NothingShared, AutoCloseable {
    private final ScheduledExecutorService background = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "timers-of-a-test");
        thread.setDaemon(true);
        return thread;
    });

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        return background;
    }

    @Override
    public void close() {
        background.shutdownNow();
    }
}
