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
 * Memory of tensors that all ranks of a group have mapped, with the same numbers on all of them. Used by the thread that
 * makes progress.
 *
 * <p>Segments are unmapped between two operations, once all ranks have let them go. No rank names them any more then: a
 * rank that has named some in an operation ends it only when all ranks have begun that operation.
 */
public final class SharedTensors {
    private final ReferenceQueue<ByteBuffer> unused = new ReferenceQueue<>();
    private final List<SharedAllocation> known = new ArrayList<>();
    private long made;
    /** How many of them this rank has let go and others may still name. */
    private int lingering;

    /** Makes an empty list. */
    public SharedTensors() {}

    /**
     * Adds memory that all ranks have just made together for one tensor.
     *
     * @param memory    has reached the segments of all ranks
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param bytes     bytes of the tensor, with which each segment begins
     * @param lent      this rank's segment, as its caller has it
     */
    public SharedAllocation add(SharedMemory memory, int rank, int worldSize, long bytes, ByteBuffer lent) {
        // all ranks count alike, even if the rest fails on one of them
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

    /** Returns whether there is no such memory that any rank may name. */
    boolean isEmpty() {
        return known.isEmpty();
    }

    /** Returns the number, from 1, of the memory that a tensor lies in; 0 if it is none of these, or null. */
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

    /** Lets go what the callers of this rank use no more, and unmaps what no rank does; between two operations. */
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

    /** Unmaps all segments; no operation is under way, and none comes any more. */
    public void close() {
        known.forEach(SharedAllocation::unmap);
        known.clear();
        lingering = 0;
    }

    /**
     * Memory that the ranks of a group share for one tensor of their callers, as one rank has it. It keeps the segments of all
     * ranks mapped, and of the buffer that its own caller holds no more than a weak reference: when nobody can reach that, or
     * {@link #letGo} says so, this rank no longer names the memory in an operation.
     *
     * <p>Another rank may still do so. So each rank writes into its segment that it has let the memory go, and the segments are
     * unmapped once all have.
     */
    public static final class SharedAllocation extends WeakReference<ByteBuffer> {
        private final long number;
        private final SharedMemory memory;
        private final ByteBuffer[] areas;
        private final int rank;
        /** Where a segment says that its rank has let it go. */
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
            return (bytes + ProgressWords.LINE_BYTES - 1) / ProgressWords.LINE_BYTES * ProgressWords.LINE_BYTES;
        }

        /** {@return how many bytes a segment needs: those of the tensor, and a line behind them} */
        public static long segmentBytes(long bytes) {
            return word(bytes) + ProgressWords.LINE_BYTES;
        }

        /** Ends the use of the memory in operations that have not begun; any thread, idempotent. */
        public void letGo() {
            // as the collector does when nobody can reach the buffer
            enqueue();
            memory.giveBack();
        }

        long number() {
            return number;
        }

        ByteBuffer area(int peer) {
            return areas[peer];
        }

        /** Tells the other ranks that this rank names the memory no more. */
        void note() {
            isNoted = true;
            ProgressWords.release(areas[rank], word, 1);
        }

        /** Returns whether no rank names the memory any more. */
        boolean isLetGoByAll() {
            for (int i = 0; isNoted && i < areas.length; i++) {
                if (ProgressWords.acquire(areas[i], word) == 0) {
                    return false;
                }
            }
            return isNoted;
        }

        /** Unmaps the segments; the buffer of the caller stays. */
        void unmap() {
            memory.close();
        }
    }
}
