package ferro.backend.nccl.memory;

import ferro.spi.LeakReport;
import ferro.spi.PlainLoggers;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The owner of a tensor's memory block. Closing the lease gives the block back, once, on any thread. A copy in progress
 * delays this until the copy is complete.
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

    /** Counts the users that still need the block: the lease itself, and copies in progress. */
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
     * Creates the lease of a block.
     *
     * @param giveBack task that gives the block back; must not refer to the lease
     * @param what     name of the block in messages about a forgotten close, or about a use after the close
     */
    static MemoryLease of(Runnable giveBack, String what) {
        return new MemoryLease(new UseCount(giveBack), what);
    }

    /**
     * Begins a use. During the use, even a close does not give the block back.
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
        // keeps this object reachable: otherwise the leak report could run at the same time and give the block back a
        // second time
        Reference.reachabilityFence(this);
    }
}
