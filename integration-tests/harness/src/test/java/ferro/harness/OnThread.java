package ferro.harness;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** Code on a thread of its own, waited for within a bound. */
public final class OnThread {
    private static final int LIMIT_SECONDS = 150;

    private OnThread() {}

    public static <T> CompletableFuture<T> start(Callable<T> code) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable body = () -> {
            try {
                result.complete(code.call());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        };
        Thread thread = new Thread(body, "test-rank");
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** Runs code that has no result. */
    public static CompletableFuture<Void> run(Says.Call code) {
        return start(() -> {
            code.run();
            return null;
        });
    }

    public static Throwable outcome(Says.Call code) {
        return outcome(run(code));
    }

    /** Waits for the result of code that must not fail. */
    public static <T> T result(Future<T> running) {
        try {
            return running.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + LIMIT_SECONDS + " s", late);
        }
    }

    /** Waits for the end of code, and returns what it has thrown; null for nothing. */
    public static Throwable outcome(Future<?> running) {
        try {
            result(running);
            return null;
        } catch (AssertionError failed) {
            if (running.isDone()) {
                return failed.getCause();
            }
            throw failed;
        }
    }

    public static void until(String what, BooleanSupplier so) {
        Processes.await(so, Duration.ofSeconds(LIMIT_SECONDS), what);
    }
}
