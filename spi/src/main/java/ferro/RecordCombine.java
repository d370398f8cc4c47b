package ferro;

import java.nio.ByteBuffer;

/**
 * Code that combines records of bytes, such as the structs of a native library. ferro never splits a record ({@link
 * ReduceOp#ofBytes}).
 */
@FunctionalInterface
public interface RecordCombine {
    /**
     * Writes {@code into op received} into {@code into}, for each record.
     *
     * <p>The two buffers have the same number of whole records, one after the other, from position 0 to the limit. The
     * two buffers are direct and in native order, so native code can combine the records by address. ferro owns and
     * reuses the buffers.
     *
     * @param into     operands and results, valid during the call
     * @param received other operands, valid during the call; may be overwritten
     */
    void combine(ByteBuffer into, ByteBuffer received);
}
