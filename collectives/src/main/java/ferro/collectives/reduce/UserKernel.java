package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A kernel that calls a user's code for tensors. The code gets views that are made for each call. */
final class UserKernel extends Kernel {
    private final DataType type;
    private final ReduceOp op;

    private UserKernel(DataType type, ReduceOp op) {
        this.type = type;
        this.op = op;
    }

    /** Returns a kernel that calls a user's code, for the arguments that this code takes. */
    static Kernel of(DataType type, ReduceOp op) {
        if (op.recordCombine() != null) {
            return new RecordKernel(type, op);
        }
        return op.span() == null ? new UserKernel(type, op) : new SpanKernel(type, op);
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        if (count > 0) {
            HostTensor left = view(into, intoOffset, count);
            HostTensor right = view(source, sourceOffset, count);
            try {
                op.combiner().combine(left, right);
            } catch (RuntimeException | Error thrown) {
                throw UserFailures.failure(op, type, thrown);
            }
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        combine(first, firstOffset, second, secondOffset, count);
        Elements.copy(type, second, secondOffset, first, firstOffset, count);
    }

    private HostTensor view(Object memory, long offset, long count) {
        int length = Math.toIntExact(count);
        int at = Math.toIntExact(offset);
        if (memory instanceof ByteBuffer bytes) {
            int end = at + length * type.byteSize();
            return HostTensor.of(
                    type,
                    bytes.duplicate().order(ByteOrder.nativeOrder()).limit(end).position(at));
        }
        return HostTensor.ofArray(type, memory, at, length);
    }
}
