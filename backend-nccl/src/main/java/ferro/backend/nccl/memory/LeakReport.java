package ferro.backend.nccl.memory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/** Reports where an object was opened that was never closed, and closes its resources. */
public final class LeakReport {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    private static final Cleaner CLEANER = Cleaner.create();

    private final AtomicBoolean closed;
    private final Cleaner.Cleanable watch;

    private LeakReport(AtomicBoolean closed, Cleaner.Cleanable watch) {
        this.closed = closed;
        this.watch = watch;
    }

    /**
     * Watches an object.
     *
     * @param owner   object that must be closed; its resources must not refer to it
     * @param what    for the report
     * @param release frees its resources; may take a while, so it runs on a thread of its own
     * @return watch, to be notified of the close
     */
    public static LeakReport watch(Object owner, String what, Runnable release) {
        return watch(owner, what, release, (text, opened) -> LOG.log(Level.WARNING, text, opened));
    }

    /** Watches with another log, for tests. */
    static LeakReport watch(Object owner, String what, Runnable release, BiConsumer<String, Throwable> log) {
        AtomicBoolean closed = new AtomicBoolean();
        Throwable opened =
                new Throwable("opened here, by thread " + Thread.currentThread().getName());
        Cleaner.Cleanable watch = CLEANER.register(owner, () -> {
            if (!closed.get()) {
                log.accept(what + " was never closed: close it where it was opened", opened);
                release(release);
            }
        });
        return new LeakReport(closed, watch);
    }

    private static void release(Runnable release) {
        Thread releasing = new Thread(release, "ferro-nccl-forgotten");
        releasing.setDaemon(true);
        releasing.start();
    }

    /** Ends the watch. */
    public void closed() {
        closed.set(true);
        watch.clean();
    }
}
