package ferro.backend.shm;

import ferro.spi.Deadlines;
import ferro.spi.SegmentSize;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Counts the shared memory that one rank has taken of what it may take, over all its groups. Thread-safe.
 *
 * <p>A lent buffer ({@link Lent}) counts until it is given back or nobody can reach it. If memory is short, the garbage
 * collector is asked to look for such buffers: a program that allocates little on the heap rarely runs it otherwise.
 */
final class MemoryBudget implements AutoCloseable {
    /** How long the collector may take to report a buffer after it has reported another. */
    private static final long REPORT_MILLIS = 250;
    /**
     * So many times the collector runs at most: a thread of the engine that waits for a core may hold the tensors of an
     * operation that has ended for its caller, and a run reports nothing that any thread holds.
     */
    private static final int RUNS = 2;
    /**
     * How long its first report may take after it has run: other threads may have it run again meanwhile, which stops
     * this one.
     */
    private static final long FIRST_REPORT_MILLIS = 2_000;

    private final ReferenceQueue<ByteBuffer> unreachable = new ReferenceQueue<>();
    private final Set<Lent> lent = new HashSet<>();
    private long taken;
    /** Bytes of lent buffers that were given back since the collector was last asked. */
    private long closed;
    /** Bytes of what is taken that memory is reserved for later. */
    private long promised;
    /** Most ranks of this host that any group of this rank has. */
    private int ranks = 1;

    /** A buffer that a caller of the rank holds. */
    private static final class Lent extends WeakReference<ByteBuffer> {
        private final Taken of;

        private Lent(ByteBuffer buffer, ReferenceQueue<ByteBuffer> unreachable, Taken of) {
            super(buffer, unreachable);
            this.of = of;
        }
    }

    /** The bytes of the budget that one segment uses until they are given back. Thread-safe. */
    final class Taken {
        private final long bytes;
        private final Runnable afterwards;
        private boolean isLent;
        private boolean isGivenBack;
        /** Number of these bytes for which memory is reserved later. */
        private long later;

        /**
         * Creates the bytes of a segment, which the budget has already counted.
         *
         * @param afterwards runs once, after the bytes were given back
         */
        Taken(long bytes, Runnable afterwards) {
            this.bytes = bytes;
            this.afterwards = afterwards;
        }

        /**
         * Promises to reserve memory later for a part of these bytes.
         *
         * @return bytes that the ranks of this host may still reserve, if each rank has promised as much as this rank
         */
        long promise(SegmentSize size) {
            synchronized (MemoryBudget.this) {
                later = size.later();
                promised += later;
                ranks = Math.max(ranks, size.ranks());
                return promised * ranks;
            }
        }

        /** Records that memory is now reserved for some bytes of the promised part. */
        void reserved(long part) {
            synchronized (MemoryBudget.this) {
                if (!isGivenBack) {
                    later -= part;
                    promised -= part;
                }
            }
        }

        /** Counts these bytes until no code can reach the buffer, or until {@link #giveBack}. */
        void lend(ByteBuffer buffer) {
            synchronized (MemoryBudget.this) {
                isLent = true;
                lent.add(new Lent(buffer, unreachable, this));
            }
        }

        /** Gives these bytes back, unless a buffer was lent. */
        void close() {
            synchronized (MemoryBudget.this) {
                if (isLent) {
                    return;
                }
            }
            giveBack();
        }

        /** Gives these bytes back; idempotent. */
        void giveBack() {
            synchronized (MemoryBudget.this) {
                if (isGivenBack) {
                    return;
                }
                isGivenBack = true;
                promised -= later;
                taken -= bytes;
                closed += isLent ? bytes : 0;
            }
            afterwards.run();
        }
    }

    /**
     * Takes memory from the budget.
     *
     * @param bytes    number of bytes
     * @param most     most bytes that the rank may take in all
     * @param patience how long to wait for the collector at most, its run included
     * @return bytes that the rank has taken already, if this is too much; else -1
     */
    long take(long bytes, long most, Duration patience) {
        forget();
        if (asks(bytes, most)) {
            long until = System.nanoTime() + Deadlines.nanos(patience);
            collect(bytes, most, until);
            for (int run = 1; run < RUNS && isShort(bytes, most) && System.nanoTime() < until; run++) {
                collect(bytes, most, until);
            }
        }
        synchronized (this) {
            if (bytes > most - taken) {
                return taken;
            }
            taken += bytes;
            return -1;
        }
    }

    /**
     * Returns whether to ask the collector: if it could make room, and once for each time that as much as the budget
     * was given back by callers who can still reach it.
     */
    private synchronized boolean asks(long bytes, long most) {
        boolean asks = bytes > most - taken - closed && !lent.isEmpty();
        closed = asks ? 0 : closed;
        return asks;
    }

    private synchronized boolean isShort(long bytes, long most) {
        return bytes > most - taken && !lent.isEmpty();
    }

    private void collect(long bytes, long most, long until) {
        // what nobody holds is reported by each run of the collector: it tells that reports come
        Reference<ByteBuffer> first = new WeakReference<>(ByteBuffer.allocate(0), unreachable);
        System.gc();
        awaitReports(bytes, most, until);
        Reference.reachabilityFence(first);
    }

    private void awaitReports(long bytes, long most, long until) {
        try {
            long wait = FIRST_REPORT_MILLIS;
            for (boolean comes = true; comes && isShort(bytes, most); wait = REPORT_MILLIS) {
                long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
                Reference<?> next = left < 1 ? unreachable.poll() : unreachable.remove(Math.min(left, wait));
                comes = next != null;
                forget(next);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        forget();
    }

    private void forget() {
        for (Reference<?> next = unreachable.poll(); next != null; next = unreachable.poll()) {
            forget(next);
        }
    }

    private void forget(Reference<?> reported) {
        if (reported instanceof Lent buffer) {
            buffer.of.giveBack();
            synchronized (this) {
                lent.remove(buffer);
                closed = Math.max(0, closed - buffer.of.bytes); // nobody can reach it any more
            }
        }
    }

    /** Does nothing: every owner of taken memory has given it back. */
    @Override
    public void close() {}
}
