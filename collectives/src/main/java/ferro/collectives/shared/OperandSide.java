package ferro.collectives.shared;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.collectives.reduce.Elements;
import ferro.collectives.reduce.Kernel;
import java.nio.ByteBuffer;

/** Where the elements of this rank's operand or result lie, for the operation under way. */
final class OperandSide {
    /** Array or buffer of all elements; null if there is none, or if {@link #parts} has them. */
    private Object memory;
    /** Tensor whose elements are in several buffers, or null. */
    private HostTensor parts;

    private DataType type;
    private long start;
    private int unit;

    void of(HostTensor tensor) {
        parts = tensor != null && TensorMemory.hasParts(tensor) ? tensor : null;
        type = tensor == null ? null : tensor.dataType();
        if (tensor == null || parts != null) {
            memory = null;
            return;
        }
        memory = tensor.memory();
        start = tensor.offset();
        unit = memory instanceof ByteBuffer ? tensor.dataType().byteSize() : 1;
    }

    /** Returns the array or buffer of an element and the slot that begins with it. */
    Object memory(long element) {
        return parts == null ? memory : TensorMemory.memoryAt(parts, element);
    }

    /** Returns where an element lies in its memory: elements for an array, bytes for a buffer. */
    long place(long element) {
        return parts == null ? start + element * unit : TensorMemory.offsetAt(parts, element);
    }

    private long run(long element, long elements) {
        return parts == null ? elements : Math.min(elements, TensorMemory.runAt(parts, element));
    }

    /** Takes elements of another side of the same type: by a kernel that multiplies, or unchanged if there is none. */
    void take(long to, OperandSide given, long from, int count, Kernel multiplying) {
        for (long done = 0; done < count; ) {
            Object target = memory(to + done);
            Object source = given.memory(from + done);
            long at = place(to + done);
            long givenAt = given.place(from + done);
            long length = run(to + done, given.run(from + done, count - done));
            if (multiplying != null) {
                multiplying.combine(target, at, source, givenAt, length);
            } else if (source != target || givenAt != at) {
                Elements.copy(type, target, at, source, givenAt, length);
            }
            done += length;
        }
    }
}
