package ferro.collectives;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.shared.SharedTensors;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Memory that the ranks of a group share for tensors of their callers; ends with the group. Thread-safe. */
final class Allocations {
    private static final long PAGE = 4096;

    private final GroupSpec group;
    private final List<SharedMemory> made = new ArrayList<>();

    private boolean closed;

    Allocations(GroupSpec group) {
        this.group = group;
    }

    /** Returns the size of the area of each rank. */
    static long areaBytes(DataType dataType, long elementCount) {
        return (elementCount * dataType.byteSize() + PAGE - 1) / PAGE * PAGE;
    }

    /** Returns why there is no area for so many; empty if there is one. Ranks ask each other even so: they may differ. */
    static Optional<String> refusedBecause(DataType dataType, long elementCount) {
        long most = (Integer.MAX_VALUE - PAGE) / dataType.byteSize();
        return elementCount > 0 && elementCount <= most
                ? Optional.empty()
                : Optional.of("an area has 1 to " + most + " elements, not " + elementCount);
    }

    /** Returns what all ranks must ask for alike. */
    static String text(DataType dataType, long elementCount) {
        return "allocate " + dataType.label() + "[" + elementCount + "]";
    }

    /** Makes a tensor of memory that all ranks have reached; called by whoever drives. */
    synchronized HostTensor tensor(SharedMemory memory, SharedTensors known, DataType dataType, long elementCount) {
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

    /** Gives all back; nobody may touch a tensor any more. */
    synchronized void close() {
        closed = true;
        made.forEach(SharedMemory::close);
        made.clear();
    }
}
