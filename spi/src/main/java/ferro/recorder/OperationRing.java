package ferro.recorder;

import ferro.FerroException.Code;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/**
 * The last operations of a rank, in entries that are allocated once. Thread-safe without locks.
 *
 * <p>Entries are numbered in ascending order. The index of an entry is its number modulo the length of the ring. The
 * stamp at an index contains the number of the entry and its state. A writer first sets the state WRITING in the stamp.
 * A reader discards what it has read if the stamp has changed during the read. The stamp works as a sequence lock
 * (Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012, doi:10.1145/2247684.2247688), and
 * needs the fences that the paper describes. If another writer is still writing at the same index, a writer gives up
 * its own entry. A writer gives up only if the ring goes a full round while one entry is written.
 *
 * <p>A writer skips an index whose operation has not ended. Therefore an operation that hangs is still in the ring when
 * its group fails, even if many other operations have ended since. An open operation is replaced only if {@code
 * PASSED_MOST} indices in a row have open operations.
 */
final class OperationRing {
    /** Number of an operation without an entry. */
    static final int NONE = 0;

    static final int WRITING = 0;
    static final int QUEUED = 1;
    static final int RUNNING = 2;
    static final int DONE = 3;
    static final int FAILED = 4;

    private static final int STATE_BITS = 3;
    private static final long STATES = (1L << STATE_BITS) - 1;
    private static final int READS = 8;
    /** Maximum number of open operations in a row that are skipped. The check of one operation takes a nanosecond. */
    private static final int PASSED_MOST = 256;

    private static final VarHandle STAMP = MethodHandles.arrayElementVarHandle(long[].class);

    private final RingEntry[] entries;
    private final long[] stamps;
    private final int mask;
    private final AtomicLong last = new AtomicLong();

    /** Creates a ring. The number of entries must be a power of two. */
    OperationRing(int capacity) {
        mask = capacity - 1;
        stamps = new long[capacity];
        entries = new RingEntry[capacity];
        for (int i = 0; i < capacity; i++) {
            entries[i] = new RingEntry();
        }
    }

    /**
     * One operation, in the ring or in a copy that was read from the ring. Unknown or absent values have defaults:
     * {@code sequence} is -1 for a message, {@code peer} is -1 for a collective, {@code step} is -1, {@code ended} is
     * 0, and {@code code} is null.
     */
    static final class RingEntry implements Cloneable {
        GroupRecorder group;
        String text;
        long sequence;
        long bytes;
        long begun;
        long ended;
        /** Bytes that were sent and received. */
        long moved;

        int step;
        int peer;
        Code code;
        GroupRecorder.Progress failedAt;
        Object trace;
        /** State of the operation in a copy that was read. In the ring, the stamp contains the state. */
        int state;

        private RingEntry read(int stateNow) {
            try {
                RingEntry copy = (RingEntry) clone();
                copy.state = stateNow;
                return copy;
            } catch (CloneNotSupportedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        boolean isOpen() {
            return state == QUEUED || state == RUNNING;
        }
    }

    /**
     * The newest entry of a group (0 if the ring has no entry of the group), and the entries that have not ended, or
     * whose end is being written. A position differs after each operation that is submitted or ends.
     */
    record RingPosition(long newest, List<Long> open) {}

    /** Returns an entry that {@link #claim} or {@link #take} has claimed. */
    RingEntry at(int entry) {
        return entries[entry & mask];
    }

    /**
     * Claims the next entry, which the caller fills and publishes with {@link #show}. Returns NONE if another writer is
     * writing at the index of the entry, or has written a newer entry at the same index.
     */
    int claim() {
        long before = last.get();
        long number = next(before);
        while (!last.compareAndSet(before, number)) {
            before = last.get();
            number = next(before);
        }
        int entry = (int) number;
        int place = entry & mask;
        long stamp = (long) STAMP.getOpaque(stamps, place);
        boolean taken = stamp != 0 && (stamp & STATES) == WRITING || stamp >>> STATE_BITS >= number;
        if (taken || entry == NONE || !STAMP.compareAndSet(stamps, place, stamp, number << STATE_BITS)) {
            return NONE;
        }
        VarHandle.storeStoreFence();
        return entry;
    }

    private long next(long before) {
        int most = Math.min(PASSED_MOST, stamps.length);
        for (int passed = 1; passed <= most; passed++) {
            long stamp = (long) STAMP.getOpaque(stamps, (int) (before + passed) & mask);
            long state = stamp & STATES;
            if (stamp == 0 || state == DONE || state == FAILED) {
                return before + passed;
            }
        }
        return before + 1;
    }

    /** Changes the state from QUEUED to RUNNING, unless the entry has ended or has been replaced. */
    void run(int entry) {
        int place = entry & mask;
        long stamp = (long) STAMP.getOpaque(stamps, place);
        if ((int) (stamp >>> STATE_BITS) == entry && (stamp & STATES) == QUEUED) {
            STAMP.compareAndSet(stamps, place, stamp, stamp + RUNNING - QUEUED);
        }
    }

    /**
     * Claims an entry so that its end can be recorded. Returns false if the entry has already ended or has been
     * replaced.
     */
    boolean take(int entry) {
        int place = entry & mask;
        while (true) {
            long stamp = (long) STAMP.getOpaque(stamps, place);
            long state = stamp & STATES;
            if ((int) (stamp >>> STATE_BITS) != entry || state != QUEUED && state != RUNNING) {
                return false;
            }
            if (STAMP.compareAndSet(stamps, place, stamp, stamp - state)) {
                VarHandle.storeStoreFence();
                return true;
            }
        }
    }

    /** Publishes an entry that {@link #claim} or {@link #take} has claimed. */
    void show(int entry, int state) {
        int place = entry & mask;
        STAMP.setRelease(stamps, place, stamps[place] + state);
    }

    /** Returns the number of the last entry that was claimed. */
    long last() {
        return last.get();
    }

    /** Returns the numbers of the entries that are kept, oldest first. */
    long[] numbers() {
        long[] numbers = new long[stamps.length];
        Arrays.setAll(numbers, place -> (long) STAMP.getOpaque(stamps, place) >>> STATE_BITS);
        return LongStream.of(numbers).filter(number -> number != 0).sorted().toArray();
    }

    RingPosition position(GroupRecorder group) {
        long newest = 0;
        List<Long> open = new ArrayList<>();
        for (long number : numbers()) {
            int place = (int) number & mask;
            long stamp = (long) STAMP.getAcquire(stamps, place);
            // an index that another group has just claimed may still refer to this group, which costs one unneeded file
            if (stamp >>> STATE_BITS == number && entries[place].group == group) {
                newest = number;
                if ((stamp & STATES) < DONE) {
                    open.add(number);
                }
            }
        }
        return new RingPosition(newest, open);
    }

    /** Reads an entry. Returns null if the entry is being written, was given up, or has been replaced. */
    RingEntry read(long number) {
        int place = (int) number & mask;
        for (int i = 0; i < READS; i++) {
            long before = (long) STAMP.getAcquire(stamps, place);
            if (before >>> STATE_BITS != number) {
                return null;
            }
            int state = (int) (before & STATES);
            if (state != WRITING) {
                RingEntry entry = entries[place].read(state);
                VarHandle.loadLoadFence();
                if ((long) STAMP.getOpaque(stamps, place) == before) {
                    return entry;
                }
            }
            Thread.onSpinWait();
        }
        return null;
    }
}
