package ferro.backend.simulated;

import ferro.Backend;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Runs each rank on a thread of its own. */
final class Ranks {
    private static final Duration BOUND = Duration.ofSeconds(60);

    private Ranks() {}

    /** What one rank does. */
    interface Script {
        void run(ProcessGroup group);
    }

    /** Runs a script on all ranks and closes them; the first failure is thrown. */
    static void run(List<? extends Backend> ranks, Script script) {
        run(ranks, Ranks::onThread, BOUND, script);
    }

    /** As run, on a virtual thread for each rank where the JDK has them. */
    static void runOnLightThreads(List<? extends Backend> ranks, Duration bound, Script script) {
        run(ranks, Ranks::onLightThread, bound, script);
    }

    private static void run(List<? extends Backend> ranks, Executor threads, Duration bound, Script script) {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (Backend rank : ranks) {
            running.add(CompletableFuture.runAsync(() -> runOne(rank, script), threads));
        }
        CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
                .orTimeout(bound.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /** Runs a script on all ranks and closes them; returns how each ended, null for well. */
    static List<Throwable> outcomes(List<? extends Backend> ranks, Script script) {
        List<CompletableFuture<Throwable>> running = ranks.stream()
                .map(rank -> CompletableFuture.runAsync(() -> runOne(rank, script), Ranks::onThread)
                        .handle((done, failure) -> failure == null ? null : failure.getCause()))
                .toList();
        return running.stream().map(CompletableFuture::join).collect(Collectors.toList());
    }

    private static void runOne(Backend rank, Script script) {
        try (ProcessGroup group = ProcessGroup.of(rank)) {
            script.run(group);
        }
    }

    /** Starts a virtual thread where there are such, else a platform thread. */
    private static void onLightThread(Runnable task) {
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
