package ferro.backend.tcp.net;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Calls Netty on behalf of threads that ferro does not own. Netty keeps objects for each calling thread, and exceptions
 * with the stack of the first caller. These objects and exceptions would prevent the garbage collection of a program's
 * class loader as long as the thread or Netty exists.
 */
public final class NettyCaller {
    private NettyCaller() {}

    /** Makes a short call on a new thread, and waits for the result even if the caller is interrupted. */
    static <T> T call(Supplier<T> netty) {
        NettyTask<T> call = new NettyTask<>(netty, new CompletableFuture<>());
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

    private record NettyTask<T>(Supplier<T> netty, CompletableFuture<T> result) implements Runnable {
        @Override
        public void run() {
            try {
                result.complete(netty.get());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        }
    }

    /** Makes a short call without a result, in the same way as {@link #call}. */
    public static void run(Runnable netty) {
        call(() -> {
            netty.run();
            return null;
        });
    }
}
