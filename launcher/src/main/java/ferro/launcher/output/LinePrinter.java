package ferro.launcher.output;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Prints the launcher's own lines, on a separate thread. A caller waits until its line is printed, even if the reader
 * is slow. After {@link #hurry}, the wait of a caller is bounded, so that a reader that does not read at all blocks no
 * caller.
 */
final class LinePrinter {
    private static final long HURRIED_MILLIS = 1_000;

    private final AtomicReference<Thread> made = new AtomicReference<>();
    private final Executor thread = Executors.newSingleThreadExecutor(this::thread);
    private final CompletableFuture<Void> hurry = new CompletableFuture<>();
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    private Thread thread(Runnable work) {
        Thread fresh = new Thread(work, "ferro-launcher-teller");
        fresh.setDaemon(true);
        made.set(fresh);
        return fresh;
    }

    /** Bounds all waits from now on, including waits that have begun. Interrupts a wait for a lock. */
    void hurry() {
        hurry.complete(null);
        Thread waiting = made.get();
        if (waiting != null) {
            waiting.interrupt();
        }
    }

    boolean hurried() {
        return hurry.isDone();
    }

    /** Prints a text and waits for the end: after {@link #hurry} at most 1 s, or not at all if output is stuck. */
    void tell(Runnable print) {
        CompletableFuture<Void> before;
        CompletableFuture<Void> told;
        synchronized (this) {
            before = last;
            told = CompletableFuture.runAsync(print, thread);
            last = told;
        }
        CompletableFuture.anyOf(told, hurry).join();
        if (!told.isDone() && before.isDone()) {
            CompletableFuture.anyOf(told, patience()).join();
        }
    }

    private static CompletableFuture<Void> patience() {
        return new CompletableFuture<Void>().completeOnTimeout(null, HURRIED_MILLIS, TimeUnit.MILLISECONDS);
    }
}
