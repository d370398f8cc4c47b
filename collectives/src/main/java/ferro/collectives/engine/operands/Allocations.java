package ferro.collectives.engine.operands;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.shared.SharedAllocation;
import ferro.collectives.shared.SharedAllocation.SharedSegments;
import ferro.collectives.shared.SharedTensors;
import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Memory that the ranks of a group share for tensors of their callers; known to the group until it ends. Thread-safe. */
public final class Allocations {
    private static final long PAGE = 4096;

    private final GroupSpec group;
    private SharedTensors known;
    private boolean closed;

    /** Makes an empty list for a group. */
    public Allocations(GroupSpec group) {
        this.group = group;
    }

    /** Returns the size of the segment of each rank, all of which is needed at once. */
    public static SegmentSize size(DataType dataType, long elementCount) {
        long bytes = SharedAllocation.segmentBytes(Math.max(0, elementCount) * dataType.byteSize());
        return SegmentSize.now((bytes + PAGE - 1) / PAGE * PAGE);
    }

    /**
     * Returns why no segment can have so many elements; empty if one can. The ranks compare their requests even then,
     * because they may differ.
     */
    public static Optional<String> refusedBecause(DataType dataType, long elementCount) {
        long most = (Integer.MAX_VALUE - 2 * PAGE) / dataType.byteSize();
        return elementCount > 0 && elementCount <= most
                ? Optional.empty()
                : Optional.of("an area has 1 to " + most + " elements, not " + elementCount);
    }

    /** Returns the text of a request, which must be the same on all ranks. */
    public static String text(DataType dataType, long elementCount) {
        return "allocate " + dataType.label() + "[" + elementCount + "]";
    }

    /**
     * Makes a tensor of memory that all ranks have reached; called by the thread that makes progress.
     *
     * @param lent this rank's segment, as the caller will have it
     */
    public synchronized Allocation allocation(
            SharedMemory memory, ByteBuffer lent, SharedTensors tensors, DataType dataType, long elementCount) {
        if (closed) {
            memory.giveBack();
            memory.close();
            throw new IllegalStateException("group \"" + group.name() + "\" rank " + group.rank()
                    + " was closed during the allocation of a tensor");
        }
        known = tensors;
        long bytes = elementCount * dataType.byteSize();
        SharedAllocation made = tensors.add(new SharedSegments(memory, group.rank(), group.worldSize(), bytes), lent);
        return Allocation.shared(HostTensor.of(dataType, lent).slice(0, elementCount), made::letGo);
    }

    /** Unmaps the segments of all ranks; what callers have of them stays theirs. */
    public synchronized void close() {
        closed = true;
        if (known != null) {
            known.close();
        }
    }
}
