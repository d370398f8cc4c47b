package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Threads that call what is tested. */
public final class Callers {
    private Callers() {}

    /** What a caller does. */
    @FunctionalInterface
    public interface Body {
        void run(int caller) throws Exception;
    }

    /** Runs a body on that many virtual threads (platform threads before JDK 21), all starting together; fails with them. */
    public static void manyAtOnce(int count, Body body) throws Exception {
        CountDownLatch ready = new CountDownLatch(count);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int caller = i;
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            virtual(() -> {
                try {
                    ready.countDown();
                    ready.await();
                    body.run(caller);
                    end.complete(null);
                } catch (Exception | Error e) {
                    end.completeExceptionally(e);
                }
            });
        }
        for (CompletableFuture<Void> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
        assertEquals(0, ready.getCount());
    }

    public static Thread daemon(Runnable body) {
        Thread thread = new Thread(body, "caller");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void virtual(Runnable body) throws ReflectiveOperationException {
        if (Runtime.version().feature() < 21) {
            daemon(body);
            return;
        }
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }
}
