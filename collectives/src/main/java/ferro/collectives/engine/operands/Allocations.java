package ferro.collectives.engine.operands;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.shared.SharedTensors;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Memory that the ranks of a group share for tensors of their callers; released with the group. Thread-safe. */
public final class Allocations {
    private static final long PAGE = 4096;

    private final GroupSpec group;
    private final List<SharedMemory> made = new ArrayList<>();

    private boolean closed;

    /** Makes an empty list for a group. */
    public Allocations(GroupSpec group) {
        this.group = group;
    }

    /** Returns the size of the segment of each rank. */
    public static long areaBytes(DataType dataType, long elementCount) {
        return (elementCount * dataType.byteSize() + PAGE - 1) / PAGE * PAGE;
    }

    /**
     * Returns why no segment can have so many elements; empty if one can. The ranks compare their requests even then,
     * because they may differ.
     */
    public static Optional<String> refusedBecause(DataType dataType, long elementCount) {
        long most = (Integer.MAX_VALUE - PAGE) / dataType.byteSize();
        return elementCount > 0 && elementCount <= most
                ? Optional.empty()
                : Optional.of("an area has 1 to " + most + " elements, not " + elementCount);
    }

    /** Returns the text of a request, which must be the same on all ranks. */
    public static String text(DataType dataType, long elementCount) {
        return "allocate " + dataType.label() + "[" + elementCount + "]";
    }

    /** Makes a tensor of memory that all ranks have reached; called by the thread that makes progress. */
    public synchronized HostTensor tensor(
            SharedMemory memory, SharedTensors known, DataType dataType, long elementCount) {
        if (closed) {
            memory.close();
            throw new IllegalStateException("group \"" + group.name() + "\" rank " + group.rank()
                    + " was closed while a tensor of it was allocated");
        }
        made.add(memory);
        ByteBuffer[] areas = new ByteBuffer[group.worldSize()];
        for (int rank = 0; rank < areas.length; rank++) {
            areas[rank] = memory.area(rank);
        }
        known.add(areas);
        return HostTensor.of(dataType, areas[group.rank()]).slice(0, elementCount);
    }

    /** Releases all memory; no tensor may be used any more. */
    public synchronized void close() {
        closed = true;
        made.forEach(SharedMemory::close);
        made.clear();
    }
}
