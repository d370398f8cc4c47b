package ferro.collectives.engine.operands;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Scratch memory for plans that need it, for one operation at a time; it grows to the largest size needed, at most 32 MiB.
 */
public final class Scratch {
    private static final HostTensor NOTHING = HostTensor.of(new byte[0]);
    private static final int LEAST_BYTES = 4096;

    private final HostTensor[] byType = new HostTensor[DataType.values().length];
    private final HostTensor[] empty = new HostTensor[DataType.values().length];
    private ByteBuffer memory;

    /** Returns a tensor of at least so many elements: one view for all operations of a type. */
    public HostTensor of(DataType type, long elements) {
        if (type == null) {
            return NOTHING;
        }
        if (elements == 0) {
            return empty(type);
        }
        int bytes = Math.toIntExact(elements * type.byteSize());
        HostTensor known = byType[type.ordinal()];
        if (known != null && known.byteCount() >= bytes) {
            return known;
        }
        if (memory == null || memory.capacity() < bytes) {
            int rounded = Math.max(LEAST_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
            // near the maximum of schedules, rounding up would double the size
            int size = rounded > Schedule.SCRATCH_BYTES_MOST ? bytes : rounded;
            memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
            Arrays.fill(byType, null);
        }
        // the view covers all whole elements, so that another length needs no other view
        HostTensor made = HostTensor.of(
                type,
                memory.slice(0, memory.capacity() / type.byteSize() * type.byteSize())
                        .order(ByteOrder.nativeOrder()));
        byType[type.ordinal()] = made;
        return made;
    }

    /** Returns a tensor without elements; it has its type, by which a link finds out how to combine. */
    private HostTensor empty(DataType type) {
        HostTensor known = empty[type.ordinal()];
        if (known == null) {
            known = HostTensor.ofArray(type, type.carrier().newArray(0), 0, 0);
            empty[type.ordinal()] = known;
        }
        return known;
    }
}
