package ferro.backend.nccl.memory;

import ferro.spi.LeakReport;
import ferro.spi.PlainLoggers;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The owner of a tensor's memory. The close gives the block back, once, on any thread. A copy in progress keeps the
 * block until the copy is complete.
 */
final class MemoryLease implements AutoCloseable {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private final UseCount uses;
    private final String what;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final LeakReport leak;

    private MemoryLease(UseCount uses, String what) {
        this.uses = uses;
        this.what = what;
        this.leak = LeakReport.watchAndFree(this, what, LOG, uses::leave);
    }

    /** Users that still need the block: the lease itself, and copies in progress. */
    private static final class UseCount {
        private final AtomicInteger count = new AtomicInteger(1);
        private final Runnable giveBack;

        UseCount(Runnable giveBack) {
            this.giveBack = giveBack;
        }

        boolean enter() {
            return count.getAndUpdate(now -> now == 0 ? 0 : now + 1) > 0;
        }

        void leave() {
            if (count.decrementAndGet() == 0) {
                giveBack.run();
            }
        }
    }

    /**
     * Leases a block.
     *
     * @param giveBack gives the block back at the end; must not refer to the lease
     * @param what     name of the block in the report of a forgotten close, and of a use after the close
     */
    static MemoryLease of(Runnable giveBack, String what) {
        return new MemoryLease(new UseCount(giveBack), what);
    }

    /**
     * Keeps the block even after a close.
     *
     * @throws IllegalStateException if the block has been given back
     */
    void enter() {
        if (!uses.enter()) {
            throw new IllegalStateException("the owner of " + what + " is closed, and its memory is released");
        }
    }

    /** Ends the use that {@link #enter} began. */
    void leave() {
        uses.leave();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leak.closed();
            uses.leave();
        }
        // otherwise the leak report could run at the same time and give the block back a second time
        Reference.reachabilityFence(this);
    }
}
