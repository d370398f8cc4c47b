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
 * The budget of shared memory of one rank, which counts the memory that all groups of the rank have taken. Thread-safe.
 *
 * <p>A lent buffer ({@link BufferReference}) counts until it is given back or becomes unreachable. If memory is short, this class
 * runs the garbage collector to find unreachable buffers, since a program that allocates little on the heap rarely
 * causes a collection.
 */
final class MemoryBudget implements AutoCloseable {
    /** Maximum wait for the next report of the garbage collector after an earlier report. */
    private static final long REPORT_MILLIS = 250;
    /**
     * Maximum number of collections for one request. A second collection may help, since an engine thread that waits
     * for a core may have held the tensors of an ended operation during the first collection. A collection reports no
     * buffer that a thread holds.
     */
    private static final int RUNS = 2;
    /**
     * Maximum wait for the first report after a collection. Other threads may cause further collections, each of which
     * stops this thread.
     */
    private static final long FIRST_REPORT_MILLIS = 2_000;

    private final ReferenceQueue<ByteBuffer> unreachable = new ReferenceQueue<>();
    private final Set<BufferReference> lent = new HashSet<>();
    private long taken;
    /** Bytes of lent buffers that were given back but may be reachable, counted since {@link #asks} was last true. */
    private long closed;
    /** Bytes of the taken memory that are reserved only later. */
    private long promised;
    /** Largest number of ranks on this host in any group of this rank. */
    private int ranks = 1;

    /** A reference to a buffer that was lent to a caller. */
    private static final class BufferReference extends WeakReference<ByteBuffer> {
        private final Reservation of;

        private BufferReference(ByteBuffer buffer, ReferenceQueue<ByteBuffer> unreachable, Reservation of) {
            super(buffer, unreachable);
            this.of = of;
        }
    }

    /** The bytes of the budget that one segment uses, until the bytes are given back. Thread-safe. */
    final class Reservation {
        private final long bytes;
        private final Runnable afterwards;
        private boolean isLent;
        private boolean isGivenBack;
        /** Number of bytes of the segment for which memory is reserved later. */
        private long later;

        /**
         * Creates the reservation of a segment whose bytes the budget has already counted.
         *
         * @param afterwards task that runs once, after the bytes were given back
         */
        Reservation(long bytes, Runnable afterwards) {
            this.bytes = bytes;
            this.afterwards = afterwards;
        }

        /**
         * Records that memory will be reserved later for a part of the segment.
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

        /** Counts the bytes of the segment until the buffer is unreachable, or until {@link #giveBack}. */
        void lend(ByteBuffer buffer) {
            synchronized (MemoryBudget.this) {
                isLent = true;
                lent.add(new BufferReference(buffer, unreachable, this));
            }
        }

        /** Gives the bytes of the segment back, unless a buffer was lent. */
        void close() {
            synchronized (MemoryBudget.this) {
                if (isLent) {
                    return;
                }
            }
            giveBack();
        }

        /** Gives the bytes of the segment back; idempotent. */
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
     * @param most     maximum number of bytes that the rank may take in total
     * @param patience maximum wait for the garbage collector, including the time of the collections
     * @return bytes that the rank has already taken, if the request exceeds the maximum; otherwise -1
     */
    long take(long bytes, long most, Duration patience) {
        forget();
        if (asks(bytes, most)) {
            long until = System.nanoTime() + Deadlines.nanos(patience);
            collect(bytes, most, until);
            for (int run = 1; run < RUNS && isShort(bytes, most) && System.nanoTime() - until < 0; run++) {
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
     * Returns whether to run the garbage collector. The collector runs if the request exceeds the budget while buffers
     * are lent. For the check, buffers that were given back but may still be reachable count as taken. The collector
     * therefore also runs each time that buffers which were given back have filled the rest of the budget.
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
        // each collection reports this unreachable object, which shows that reports arrive
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
        if (reported instanceof BufferReference buffer) {
            buffer.of.giveBack();
            synchronized (this) {
                lent.remove(buffer);
                closed = Math.max(0, closed - buffer.of.bytes); // the buffer is unreachable now
            }
        }
    }

    /** Does nothing, because every owner of taken memory gives the memory back. */
    @Override
    public void close() {}
}
