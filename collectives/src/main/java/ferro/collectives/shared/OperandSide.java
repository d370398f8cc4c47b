package ferro.collectives.shared;

import ferro.HostTensor;
import java.nio.ByteBuffer;

/** Where the elements of this rank's operand or result lie, for the operation under way. */
final class OperandSide {
    private Object memory;
    private long start;
    private int unit;

    void of(HostTensor tensor) {
        if (tensor == null) {
            memory = null;
            return;
        }
        memory = tensor.memory();
        start = tensor.offset();
        unit = memory instanceof ByteBuffer ? tensor.dataType().byteSize() : 1;
    }

    Object memory() {
        return memory;
    }

    /** Returns where an element lies: elements for an array, bytes for a buffer. */
    long place(long element) {
        return start + element * unit;
    }
}
