package ferro.launcher.output;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Prints the launcher's own lines, on a thread of its own. Whoever tells something waits until it is printed, however slow the
 * reader is. In a hurry the wait is bounded, and a reader that does not read at all keeps nobody from going on.
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

    /** Ends the waits that last too long, now and from now on; a wait for a lock is interrupted. */
    void hurry() {
        hurry.complete(null);
        Thread waiting = made.get();
        if (waiting != null) {
            waiting.interrupt();
        }
    }

    /** Returns whether waits are bounded. */
    boolean hurried() {
        return hurry.isDone();
    }

    /** Prints, and waits for it. In a hurry, what stands behind something that is stuck is not waited for. */
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
