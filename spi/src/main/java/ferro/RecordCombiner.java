package ferro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * An adapter that applies a user's code for records of bytes to tensors, for callers of {@link ReduceOp#combiner}. The
 * adapter allocates new buffers for each call. The kernel of the engine has its own buffers, and uses {@code code}
 * directly.
 *
 * @param recordBytes size of a record
 * @param code        code for buffers of whole records
 */
record RecordCombiner(int recordBytes, RecordCombine code) implements ReduceOp.Combiner {
    /** Maximum size of a record in bytes. Each kernel and each link may keep buffers of one record. */
    private static final int MAX_RECORD_BYTES = 1 << 16;

    /** Size of each buffer in bytes, chosen so that both buffers fit into the first-level cache. */
    private static final int BLOCK_BYTES = 8192;

    static RecordCombiner of(String name, int recordBytes, RecordCombine code) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(code, "combine");
        if (recordBytes < 1 || recordBytes > MAX_RECORD_BYTES) {
            throw new IllegalArgumentException("a record of reduction \"" + name + "\" has " + recordBytes
                    + " bytes, need 1 to " + MAX_RECORD_BYTES);
        }
        return new RecordCombiner(recordBytes, code);
    }

    private record SwappedRecords(RecordCombine code) implements RecordCombine {
        @Override
        public void combine(ByteBuffer into, ByteBuffer received) {
            int bytes = into.limit();
            code.combine(received, into);
            into.clear().put(0, received.clear(), 0, bytes).limit(bytes);
        }
    }

    /** Returns an adapter whose code gets its operands in the other order. */
    RecordCombiner swapped() {
        return new RecordCombiner(recordBytes, new SwappedRecords(code));
    }

    /** Returns how many bytes of whole records to combine at once. */
    int blockBytes() {
        return Math.max(1, BLOCK_BYTES / recordBytes) * recordBytes;
    }

    @Override
    public void combine(HostTensor into, HostTensor received) {
        int block = (int) Math.min(into.elementCount(), blockBytes());
        ByteBuffer left = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
        ByteBuffer right = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
        for (long done = 0; done < into.elementCount(); done += block) {
            int length = (int) Math.min(block, into.elementCount() - done);
            HostTensor own = HostTensor.of(into.dataType(), left.clear().limit(length));
            own.copyFrom(0, into, done, length);
            HostTensor.of(into.dataType(), right.clear().limit(length)).copyFrom(0, received, done, length);
            code.combine(left.clear().limit(length), right.clear().limit(length));
            into.copyFrom(done, own, 0, length);
        }
    }
}
