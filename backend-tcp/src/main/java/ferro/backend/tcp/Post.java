package ferro.backend.tcp;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * One posted run of elements as a run of bytes: the header if it is the first of its call on the link, then the elements.
 * Reused by {@link PostRing} once it is finished, so its fields change.
 */
final class Post {
    /** Bytes in front of the first elements of a call: sequence and fingerprint, little-endian. */
    static final int HEADER_BYTES = 16;

    private CallHeader call;
    private int headerBytes;
    private DataType type;
    private int elementBytes;
    private Object memory;
    /** Where the elements start: elements for an array, bytes for a buffer. */
    private long offset;

    private long length;
    private Kernel kernel;

    /** Turns a long of native order into one of the wire's, little-endian, or back. */
    static long wireOrder(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
    }

    void fill(CallHeader header, boolean first, HostTensor data, long from, long count) {
        Objects.checkFromIndexSize(from, count, data.elementCount());
        call = header;
        headerBytes = first ? HEADER_BYTES : 0;
        type = data.dataType();
        elementBytes = type.byteSize();
        memory = data.memory();
        offset = data.offset() + (memory instanceof ByteBuffer ? from * elementBytes : from);
        length = headerBytes + count * elementBytes;
        kernel = null;
    }

    /** Makes a receive combine. */
    void combineWith(Kernel how) {
        kernel = how;
    }

    /** Lets go of the caller's memory. */
    void clear() {
        call = null;
        memory = null;
        kernel = null;
    }

    CallHeader call() {
        return call;
    }

    int headerBytes() {
        return headerBytes;
    }

    /** Returns the bytes on the wire, header included. */
    long length() {
        return length;
    }

    DataType type() {
        return type;
    }

    int elementBytes() {
        return elementBytes;
    }

    Object memory() {
        return memory;
    }

    /** Returns null where elements are just copied. */
    Kernel kernel() {
        return kernel;
    }

    /** Returns where in {@link #memory} the element lies that covers this byte of the post. */
    long place(long position) {
        long bytes = position - headerBytes;
        return offset + (memory instanceof ByteBuffer ? bytes : bytes / elementBytes);
    }

    /** Returns whether the elements can move between socket and memory without a copy, and are worth a call of their own. */
    boolean straight(int leastBytes) {
        return kernel == null && memory instanceof ByteBuffer && length - headerBytes > leastBytes;
    }
}
