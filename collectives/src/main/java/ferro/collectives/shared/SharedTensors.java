package ferro.collectives.shared;

import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.spi.SharedMemory;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The memory of tensors that all ranks of a group have mapped. Each memory has the same number on all ranks. Only the
 * thread that makes progress uses this object.
 *
 * <p>Segments are unmapped between two operations, once all ranks have released the segments. No rank then names the
 * segments in an operation any more, because a rank that has named segments in an operation ends the operation only
 * when all ranks have begun the operation.
 */
public final class SharedTensors {
    private final ReferenceQueue<ByteBuffer> unused = new ReferenceQueue<>();
    private final List<SharedAllocation> known = new ArrayList<>();
    private long made;
    /** Number of allocations that this rank has released and other ranks may still name. */
    private int lingering;

    /** Makes a list without memory. */
    public SharedTensors() {}

    /**
     * Adds memory that all ranks have just made together for one tensor.
     *
     * @param memory    memory that has mapped the segments of all ranks
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param bytes     size of the tensor in bytes; each segment begins with the tensor
     * @param lent      this rank's segment, as the buffer that the caller has
     */
    public SharedAllocation add(SharedMemory memory, int rank, int worldSize, long bytes, ByteBuffer lent) {
        // all ranks count in the same way, even if a later step fails on one rank
        long number = ++made;
        ByteBuffer[] areas = new ByteBuffer[worldSize];
        for (int peer = 0; peer < worldSize; peer++) {
            areas[peer] = memory.area(peer);
        }
        int word = Math.toIntExact(SharedAllocation.word(bytes));
        SharedAllocation allocation = new SharedAllocation(number, memory, areas, rank, word, lent, unused);
        known.add(allocation);
        return allocation;
    }

    /** Returns whether no memory exists that any rank may name. */
    boolean isEmpty() {
        return known.isEmpty();
    }

    /** Returns the number, from 1, of the memory of a tensor; 0 for null or for a tensor in other memory. */
    int number(HostTensor tensor) {
        if (tensor != null && !TensorMemory.isForeign(tensor) && tensor.memory() instanceof ByteBuffer buffer) {
            for (int i = known.size(); i > 0; i--) {
                if (known.get(i - 1).refersTo(buffer)) {
                    return (int) known.get(i - 1).number();
                }
            }
        }
        return 0;
    }

    ByteBuffer area(long number, int peer) {
        int i = known.size() - 1;
        while (known.get(i).number() != number) {
            i--;
        }
        return known.get(i).area(peer);
    }

    /**
     * Releases memory that the callers of this rank no longer use, and unmaps memory that all ranks have released. The
     * caller calls this method between two operations.
     */
    void sweep() {
        for (Reference<?> next = unused.poll(); next != null; next = unused.poll()) {
            if (known.contains(next)) {
                ((SharedAllocation) next).note();
                lingering++;
            }
        }
        for (int i = known.size() - 1; lingering > 0 && i >= 0; i--) {
            if (known.get(i).isLetGoByAll()) {
                known.remove(i).unmap();
                lingering--;
            }
        }
    }

    /** Unmaps all segments. The caller ensures that no operation is in flight or will begin. */
    public void close() {
        known.forEach(SharedAllocation::unmap);
        known.clear();
        lingering = 0;
    }

    /**
     * One rank's view of memory that the ranks of a group share for one tensor of their callers. The object keeps the
     * segments of all ranks mapped, but has only a weak reference to the buffer of its own caller. After the buffer
     * becomes unreachable, or after {@link #letGo}, this rank no longer names the memory in an operation.
     *
     * <p>Another rank may still name the memory. So each rank marks its own segment when the rank releases the memory.
     * The segments are unmapped once all ranks have marked their segments.
     */
    public static final class SharedAllocation extends WeakReference<ByteBuffer> {
        private final long number;
        private final SharedMemory memory;
        private final ByteBuffer[] areas;
        private final int rank;
        /** Offset of the word that marks a segment as released by its rank. */
        private final int word;

        private boolean isNoted;

        SharedAllocation(
                long number,
                SharedMemory memory,
                ByteBuffer[] areas,
                int rank,
                int word,
                ByteBuffer lent,
                ReferenceQueue<ByteBuffer> unused) {
            super(lent, unused);
            this.number = number;
            this.memory = memory;
            this.areas = areas;
            this.rank = rank;
            this.word = word;
        }

        private static long word(long bytes) {
            return (bytes + ProgressCounters.LINE_BYTES - 1)
                    / ProgressCounters.LINE_BYTES
                    * ProgressCounters.LINE_BYTES;
        }

        /**
         * {@return the size of a segment in bytes, which has space for the tensor and for a cache line after the
         * tensor}
         */
        public static long segmentBytes(long bytes) {
            return word(bytes) + ProgressCounters.LINE_BYTES;
        }

        /** Ends the use of the memory in operations that have not begun. Thread-safe and idempotent. */
        public void letGo() {
            // as the garbage collector does when the buffer is unreachable
            enqueue();
            memory.giveBack();
        }

        long number() {
            return number;
        }

        ByteBuffer area(int peer) {
            return areas[peer];
        }

        /** Publishes to the other ranks that this rank no longer names the memory. */
        void note() {
            isNoted = true;
            ProgressCounters.release(areas[rank], word, 1);
        }

        /** Returns whether all ranks have published that they no longer name the memory. */
        boolean isLetGoByAll() {
            for (int i = 0; isNoted && i < areas.length; i++) {
                if (ProgressCounters.acquire(areas[i], word) == 0) {
                    return false;
                }
            }
            return isNoted;
        }

        /** Unmaps the segments. The buffer of the caller stays valid. */
        void unmap() {
            memory.close();
        }
    }
}
