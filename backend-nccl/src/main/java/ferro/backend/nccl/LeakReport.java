package ferro.backend.nccl;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/** Says where something was opened that was forgotten without a close, and closes what is under it. */
final class LeakReport {
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
     * @param owner   what must be closed; nothing under it may refer to it
     * @param what    for the report
     * @param release frees what is under it; may take a while, so it gets a thread
     * @return to be told about the close
     */
    static LeakReport watch(Object owner, String what, Runnable release) {
        return watch(owner, what, release, (text, opened) -> LOG.log(Level.WARNING, text, opened));
    }

    /** The same with another log: for tests. */
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
    void closed() {
        closed.set(true);
        watch.clean();
    }
}
