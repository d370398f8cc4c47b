package ferro.backend.gloofallback;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Code on a thread of its own, waited for within a bound. */
final class OnThread {
    private static final int LIMIT_SECONDS = 300;

    private OnThread() {}

    static <T> CompletableFuture<T> start(Callable<T> code) {
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

    static <T> T result(CompletableFuture<T> running) {
        try {
            return running.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + LIMIT_SECONDS + " s", late);
        }
    }

    /** Returns how it ended, null for well. */
    static Throwable outcome(CompletableFuture<?> running) {
        try {
            running.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause();
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + LIMIT_SECONDS + " s", late);
        }
    }
}
