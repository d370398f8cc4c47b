package ferro.backend.simulated;

import ferro.Backend;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Runs each rank on a virtual thread where the JDK has them, else on a thread with a small stack. */
final class LightThreads {
    private LightThreads() {}

    /** Runs a script on all ranks and closes them; the first failure is thrown. */
    static void run(List<? extends Backend> ranks, Duration bound, Consumer<ProcessGroup> script) {
        CompletableFuture.allOf(ranks.stream()
                        .map(rank -> CompletableFuture.runAsync(() -> runOne(rank, script), LightThreads::start))
                        .toArray(CompletableFuture[]::new))
                .orTimeout(bound.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    private static void runOne(Backend rank, Consumer<ProcessGroup> script) {
        try (ProcessGroup group = ProcessGroup.of(rank)) {
            script.accept(group);
        }
    }

    private static void start(Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class.forName("java.lang.Thread$Builder")
                    .getMethod("start", Runnable.class)
                    .invoke(builder, task);
        } catch (ReflectiveOperationException tooOld) {
            Thread thread = new Thread(null, task, "rank", 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
    }
}
