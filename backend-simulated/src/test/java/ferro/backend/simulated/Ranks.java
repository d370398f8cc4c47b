package ferro.backend.simulated;

import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Runs each rank on a thread of its own. */
final class Ranks {
    private static final long BOUND_SECONDS = 60;

    private Ranks() {}

    /** What one rank does. */
    interface Script {
        void run(ProcessGroup group);
    }

    /** Runs a script on all ranks and closes them; the first failure is thrown. */
    static void run(List<SimulatedBackend> ranks, Script script) {
        run(ranks, Ranks::onThread, script);
    }

    static void run(List<SimulatedBackend> ranks, Executor threads, Script script) {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (SimulatedBackend rank : ranks) {
            running.add(CompletableFuture.runAsync(() -> runOne(rank, script), threads));
        }
        CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
                .orTimeout(BOUND_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    private static void runOne(SimulatedBackend rank, Script script) {
        try (ProcessGroup group = ProcessGroup.of(rank)) {
            script.run(group);
        }
    }

    /** Starts a virtual thread where there are such, else a platform thread. */
    static void onLightThread(Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class.forName("java.lang.Thread$Builder")
                    .getMethod("start", Runnable.class)
                    .invoke(builder, task);
        } catch (ReflectiveOperationException tooOld) {
            onThread(task);
        }
    }

    private static void onThread(Runnable task) {
        Thread thread = new Thread(null, task, "rank", 256 << 10);
        thread.setDaemon(true);
        thread.start();
    }
}
