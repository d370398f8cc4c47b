package ferro.backend.tcp.net;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A thread of its own for each rank: a pool could run one rank only when another is done. */
public final class Threads {
    private static final String NAME = "test-rank";
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

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
                NAME);
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    public static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until so many threads of ranks are inside a method, or what it calls. */
    public static void awaitInside(Class<?> type, String method, int count) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (inside(type, method) < count) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "fewer than " + count + " ranks are in " + type.getSimpleName() + "." + method);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static long inside(Class<?> type, String method) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(one -> one.getKey().getName().equals(NAME))
                .map(Map.Entry::getValue)
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals(type.getName())
                                && frame.getMethodName().equals(method)))
                .count();
    }
}
