package ferro.collectives.posts;

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
public final class Post {
    /** Bytes in front of the first elements of a call: sequence and fingerprint, little-endian. */
    public static final int HEADER_BYTES = 16;

    private CallHeader call;
    private int headerBytes;
    private DataType type;
    private int elementBytes;
    private Object memory;
    /** Where the elements start: elements for an array, bytes for a buffer. */
    private long offset;

    private long length;
    private Kernel kernel;

    /** Made by {@link PostRing}. */
    Post() {}

    /** Turns a long of native order into one of the wire's, little-endian, or back. */
    private static long wireOrder(long value) {
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

    /**
     * Returns whose data it is.
     *
     * @return header
     */
    public CallHeader call() {
        return call;
    }

    /**
     * Returns the bytes before the elements.
     *
     * @return {@link #HEADER_BYTES}, or 0 if it is not the first post of its call
     */
    public int headerBytes() {
        return headerBytes;
    }

    /**
     * Returns the bytes that move, header included.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Returns the type of the elements.
     *
     * @return type
     */
    public DataType type() {
        return type;
    }

    /**
     * Returns the size of an element.
     *
     * @return bytes
     */
    public int elementBytes() {
        return elementBytes;
    }

    /**
     * Returns where the elements lie.
     *
     * @return array of the type, or direct buffer in native order
     */
    public Object memory() {
        return memory;
    }

    /**
     * Returns how a receive combines.
     *
     * @return null where elements are just copied
     */
    public Kernel kernel() {
        return kernel;
    }

    /**
     * Returns where in {@link #memory} the element lies that covers this byte of the post.
     *
     * @param position byte of the post, header included
     * @return elements for an array, bytes for a buffer
     */
    public long place(long position) {
        long bytes = position - headerBytes;
        return offset + (memory instanceof ByteBuffer ? bytes : bytes / elementBytes);
    }

    /**
     * Writes the header of the call.
     *
     * @param into memory of the medium, in native order
     * @param at   first byte, of any alignment
     */
    public void putHeader(ByteBuffer into, int at) {
        into.putLong(at, wireOrder(call.sequence()));
        into.putLong(at + Long.BYTES, wireOrder(call.fingerprint()));
    }

    /**
     * Compares the header of the call with one that came.
     *
     * @param from memory of the medium, in native order
     * @param at   first byte, of any alignment
     * @return null if they are the same; else what came, as far as a medium knows it
     */
    public CallHeader otherHeader(ByteBuffer from, int at) {
        long sequence = wireOrder(from.getLong(at));
        long fingerprint = wireOrder(from.getLong(at + Long.BYTES));
        boolean same = sequence == call.sequence() && fingerprint == call.fingerprint();
        return same ? null : CallHeader.of(0, sequence, fingerprint, "");
    }

    /**
     * Returns whether the elements can move between a descriptor and their memory without a copy, and are worth a call of
     * their own.
     *
     * @param leastBytes what is worth it
     * @return whether they are plain and direct, and more than that
     */
    public boolean straight(int leastBytes) {
        return kernel == null && memory instanceof ByteBuffer && length - headerBytes > leastBytes;
    }
}
