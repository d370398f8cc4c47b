package ferro.spi;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A watch on an object that must be closed. If the object is garbage collected without a close, one WARNING names the
 * object. The WARNING has the stack trace of the code that opened the object. Thread-safe.
 *
 * <p>One thread of the JDK, which has the system class loader, serves all watches. A watch that has ended keeps no
 * object reachable.
 */
public final class LeakReport {
    private static final Cleaner CLEANER = Cleaner.create();

    private final AtomicBoolean closed;
    private final Cleaner.Cleanable watch;

    private LeakReport(AtomicBoolean closed, Cleaner.Cleanable watch) {
        this.closed = closed;
        this.watch = watch;
    }

    /**
     * Watches an object whose resources stay open after the report.
     *
     * @param owner object that must be closed
     * @param what  name of the object, for the WARNING
     * @param log   receives the WARNING
     * @return watch; the owner calls {@link #closed} on the watch when the owner is closed
     */
    public static LeakReport watch(Object owner, String what, Logger log) {
        return watch(
                owner,
                Objects.requireNonNull(what, "what")
                        + " was never closed before it was garbage collected: its resources stay open",
                log,
                () -> {});
    }

    /**
     * Watches an object that must be closed. If the object is not closed, its resources are freed after the report.
     *
     * @param owner   object that must be closed; {@code release} must not refer to the object
     * @param what    name of the object, for the WARNING
     * @param log     receives the WARNING
     * @param release action that frees the resources; runs on a separate thread, because the action may take a while
     * @return watch; the owner calls {@link #closed} on the watch when the owner is closed
     */
    public static LeakReport watchAndFree(Object owner, String what, Logger log, Runnable release) {
        Objects.requireNonNull(release, "release");
        String text = Objects.requireNonNull(what, "what")
                + " was never closed before it was garbage collected: its resources are freed now";
        return watch(owner, text, log, () -> release(release));
    }

    private static LeakReport watch(Object owner, String text, Logger log, Runnable then) {
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(log, "log");
        AtomicBoolean closed = new AtomicBoolean();
        Throwable opened =
                new Throwable("opened here, by thread " + Thread.currentThread().getName());
        return new LeakReport(closed, CLEANER.register(owner, new LeakLogger(text, log, closed, opened, then)));
    }

    /** The action that runs when the owner is garbage collected. The action must not refer to the owner. */
    private record LeakLogger(String text, Logger log, AtomicBoolean closed, Throwable opened, Runnable then)
            implements Runnable {
        @Override
        public void run() {
            if (!closed.get()) {
                log.log(
                        Level.WARNING,
                        text + "; close it where it was opened, for example by try-with-resources",
                        opened);
                then.run();
            }
        }
    }

    private static void release(Runnable release) {
        Thread releasing = new Thread(release, "ferro-forgotten");
        releasing.setDaemon(true);
        releasing.start();
    }

    /** Ends the watch. Idempotent. The close of the owner calls this method before it waits for anything. */
    public void closed() {
        closed.set(true);
        watch.clean();
    }
}
