package ferro.backend.tcp.net;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Calls Netty for a thread that is not ferro's. Netty keeps objects for each thread that it meets, and exceptions that know
 * the stack of its first caller. Both would keep the class loader of a program for as long as the thread or Netty lives.
 */
public final class OwnThread {
    private OwnThread() {}

    /** Makes a short call on a thread that ends with it, and waits for it even if the caller is interrupted. */
    static <T> T call(Supplier<T> netty) {
        ShortCall<T> call = new ShortCall<>(netty, new CompletableFuture<>());
        Thread thread = new Thread(call, "ferro-netty");
        thread.setDaemon(true);
        thread.start();
        try {
            return call.result.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failed.getCause();
        }
    }

    private record ShortCall<T>(Supplier<T> netty, CompletableFuture<T> result) implements Runnable {
        @Override
        public void run() {
            try {
                result.complete(netty.get());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        }
    }

    /** Makes a short call that returns nothing, as {@link #call}. */
    public static void run(Runnable netty) {
        call(() -> {
            netty.run();
            return null;
        });
    }
}
