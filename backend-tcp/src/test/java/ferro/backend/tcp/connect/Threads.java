package ferro.backend.tcp.connect;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A thread of its own for each rank: a pool could run one rank only when another is done. */
public final class Threads {
    private Threads() {}

    public static <T> CompletableFuture<T> start(Supplier<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(task.get());
                    } catch (Throwable failure) {
                        result.completeExceptionally(failure);
                    }
                },
                "test-rank");
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}
