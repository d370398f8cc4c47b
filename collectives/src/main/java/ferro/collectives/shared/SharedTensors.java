package ferro.collectives.shared;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
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
     * Adds memory that all ranks have just made together.
     *
     * @param segments of all ranks
     * @param lent     this rank's, as its caller has it
     * @return what the group knows of it
     */
    public SharedAllocation add(SharedAllocation.SharedSegments segments, ByteBuffer lent) {
        SharedAllocation allocation = new SharedAllocation(++made, segments, lent, unused);
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
}
