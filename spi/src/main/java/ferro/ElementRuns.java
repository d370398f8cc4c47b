package ferro;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Objects;

/** Copies of elements whose memory may have several buffers, one run after the other. The ranges are checked before. */
final class ElementRuns {
    private ElementRuns() {}

    /** Copies elements to an array. */
    static void read(HostTensor tensor, long from, Object into, int at, int count) {
        Objects.checkFromIndexSize(at, count, Array.getLength(into));
        Carrier carrier = tensor.dataType().carrier();
        for (int done = 0; done < count; ) {
            long first = from + done;
            int length = (int) Math.min(count - done, tensor.runAt(first));
            carrier.read(buffer(tensor, first), (int) tensor.offsetAt(first), into, at + done, length);
            done += length;
        }
    }

    /** Copies elements from an array. */
    static void write(HostTensor tensor, long to, Object source, int at, int count) {
        Objects.checkFromIndexSize(at, count, Array.getLength(source));
        Carrier carrier = tensor.dataType().carrier();
        for (int done = 0; done < count; ) {
            long first = to + done;
            int length = (int) Math.min(count - done, tensor.runAt(first));
            carrier.write(buffer(tensor, first), (int) tensor.offsetAt(first), source, at + done, length);
            done += length;
        }
    }

    /** Copies elements between two tensors of one type. If the target begins behind the source, the last run is first. */
    static void copy(HostTensor into, long to, HostTensor source, long from, long count) {
        if (!into.isDirect()) {
            read(source, from, into.memory(), (int) into.offsetAt(to), (int) count);
        } else if (!source.isDirect()) {
            write(into, to, source.memory(), (int) source.offsetAt(from), (int) count);
        } else if (isBehind(into, to, source, from)) {
            backward(into, to, source, from, count);
        } else {
            for (long done = 0; done < count; ) {
                long length = Math.min(count - done, Math.min(into.runAt(to + done), source.runAt(from + done)));
                copyRun(into, to + done, source, from + done, length);
                done += length;
            }
        }
    }

    private static void backward(HostTensor into, long to, HostTensor source, long from, long count) {
        // a step of half a buffer is in one buffer wherever it begins
        long step = (2 << 20) / into.dataType().byteSize();
        for (long left = count; left > 0; ) {
            long length = Math.min(left, step);
            left -= length;
            copyRun(into, to + left, source, from + left, length);
        }
    }

    private static boolean isBehind(HostTensor into, long to, HostTensor source, long from) {
        int unit = into.dataType().byteSize();
        if (into.memoryKey() == source.memoryKey()) {
            return into.memoryOffset() + to * unit > source.memoryOffset() + from * unit;
        }
        return BufferAddress.isKnown() && into.address() + to * unit > source.address() + from * unit;
    }

    private static void copyRun(HostTensor into, long to, HostTensor source, long from, long length) {
        int unit = into.dataType().byteSize();
        ByteBuffer given = (ByteBuffer) source.memoryAt(from);
        ((ByteBuffer) into.memoryAt(to))
                .put((int) into.offsetAt(to), given, (int) source.offsetAt(from), (int) length * unit);
    }

    private static ByteBuffer buffer(HostTensor tensor, long element) {
        return ElementMemory.whole((ByteBuffer) tensor.memoryAt(element));
    }
}
