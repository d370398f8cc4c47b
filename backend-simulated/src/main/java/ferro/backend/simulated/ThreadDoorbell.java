package ferro.backend.simulated;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** A doorbell for threads. A signal while no thread waits ends the next wait at once, so that none is lost. */
final class ThreadDoorbell implements Doorbell {
    private final LongSupplier clock;
    private final AtomicBoolean rung = new AtomicBoolean();
    private volatile Thread waiter;

    ThreadDoorbell(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public void signal() {
        if (rung.getAndSet(true)) {
            return;
        }
        Thread thread = waiter;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void await(long deadlineNanos) {
        waiter = Thread.currentThread();
        try {
            while (!rung.get() && !Thread.currentThread().isInterrupted()) {
                long left = deadlineNanos - clock.getAsLong();
                if (left <= 0) {
                    return;
                }
                LockSupport.parkNanos(this, left);
            }
        } finally {
            waiter = null;
            rung.getAndSet(false);
        }
    }
}
