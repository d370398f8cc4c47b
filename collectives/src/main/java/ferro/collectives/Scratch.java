package ferro.collectives;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory for plans that need some, one operation at a time; grows to what was needed most, at most 32 MiB. */
final class Scratch {
    private static final HostTensor NOTHING = HostTensor.of(new byte[0]);
    private static final int LEAST_BYTES = 4096;

    private ByteBuffer memory;

    HostTensor of(DataType type, long elements) {
        if (elements == 0 || type == null) {
            return NOTHING;
        }
        int bytes = Math.toIntExact(elements * type.byteSize());
        if (memory == null || memory.capacity() < bytes) {
            int rounded = Math.max(LEAST_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
            // near the most that schedules ask for, rounding up would double it
            int size = rounded > Schedule.SCRATCH_BYTES_MOST ? bytes : rounded;
            memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        }
        return HostTensor.of(type, memory).slice(0, elements);
    }
}
