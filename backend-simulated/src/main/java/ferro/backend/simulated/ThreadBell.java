package ferro.backend.simulated;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** A bell for threads; a ring while nobody waits ends the next wait at once, so none is lost. */
final class ThreadBell implements Bell {
    private final LongSupplier clock;
    private final AtomicBoolean rung = new AtomicBoolean();
    private volatile Thread waiter;

    ThreadBell(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public void ring() {
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
