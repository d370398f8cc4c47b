package ferro.backend.nccl.memory;

import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Copies between host tensors and direct memory in native order. A copy allocates one or two views. */
public final class HostBytes {
    private HostBytes() {}

    /**
     * Copies elements of a tensor into memory.
     *
     * @param tensor   source
     * @param from     first element
     * @param count    elements
     * @param to       direct buffer
     * @param toByte   offset in it
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
     * Copies memory into elements of a tensor.
     *
     * @param from     direct buffer
     * @param fromByte offset in it
     * @param tensor   destination
     * @param to       first element
     * @param count    elements
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
        // the limit of a user's buffer must not change: the duplicate has its own
        return of.duplicate().clear().limit(from + bytes).position(from).slice().order(ByteOrder.nativeOrder());
    }
}
