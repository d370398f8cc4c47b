package ferro.backend.nccl.memory;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Copies between host tensors and direct memory in native order. Each copy allocates one or two buffer views. */
public final class HostMemoryCopier {
    private HostMemoryCopier() {}

    /**
     * Copies {@code count} elements of a tensor, from element {@code from} on, into a direct buffer at byte {@code
     * toByte}.
     */
    public static void read(HostTensor tensor, long from, int count, ByteBuffer to, int toByte) {
        ByteBuffer part = part(to, toByte, count * tensor.dataType().byteSize());
        Object memory = TensorMemory.memoryAt(tensor, from);
        int start = Math.toIntExact(TensorMemory.offsetAt(tensor, from));
        if (memory instanceof ByteBuffer other) {
            part.put(part(other, start, part.remaining()));
        } else {
            tensor.dataType().carrier().write(part, 0, memory, start, count);
        }
    }

    /**
     * Copies bytes of a direct buffer, from byte {@code fromByte} on, into {@code count} elements of a tensor, from
     * element {@code to} on.
     */
    public static void write(ByteBuffer from, int fromByte, HostTensor tensor, long to, int count) {
        ByteBuffer part = part(from, fromByte, count * tensor.dataType().byteSize());
        Object memory = TensorMemory.memoryAt(tensor, to);
        int start = Math.toIntExact(TensorMemory.offsetAt(tensor, to));
        if (memory instanceof ByteBuffer other) {
            part(other, start, part.remaining()).put(part);
        } else {
            tensor.dataType().carrier().read(part, 0, memory, start, count);
        }
    }

    private static ByteBuffer part(ByteBuffer of, int from, int bytes) {
        // uses a duplicate, because the limit of a user's buffer must not change
        return of.duplicate().clear().limit(from + bytes).position(from).slice().order(ByteOrder.nativeOrder());
    }
}
