package ferro.collectives.link;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * One posted run of elements as a run of bytes: the header if it is the first of its call on the link, then the elements.
 * Reused by {@link PostRing} once it is finished, so its fields change.
 */
public final class Post {
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

    void fill(CallHeader header, boolean first, HostTensor data, long from, long count) {
        Objects.checkFromIndexSize(from, count, data.elementCount());
        call = header;
        headerBytes = first ? WireHeader.BYTES : 0;
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

    /** Drops the references to the caller's memory. */
    void clear() {
        call = null;
        memory = null;
        kernel = null;
    }

    /**
     * Returns the call that the data belongs to.
     *
     * @return header
     */
    public CallHeader call() {
        return call;
    }

    /**
     * Returns the bytes before the elements.
     *
     * @return {@link WireHeader#BYTES}, or 0 if it is not the first post of its call
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
     * Returns the position in {@link #memory} of the element that covers this byte of the post.
     *
     * @param position byte of the post, header included
     * @return elements for an array, bytes for a buffer
     */
    public long place(long position) {
        long bytes = position - headerBytes;
        return offset + (memory instanceof ByteBuffer ? bytes : bytes / elementBytes);
    }

    /**
     * Returns the position in {@link #memory} of a byte of the post.
     *
     * @param position byte of the post, header included
     * @return bytes from the first element of an array, or from index 0 of a buffer
     */
    public long bytePlace(long position) {
        return position - headerBytes + (memory instanceof ByteBuffer ? offset : offset * elementBytes);
    }

    /**
     * Returns whether the elements can move between a descriptor and their memory without a copy, and are worth a call of
     * their own.
     *
     * @param leastBytes bytes above which a separate call is worth its cost
     * @return whether they are plain and direct, and more than that
     */
    public boolean straight(int leastBytes) {
        return kernel == null && memory instanceof ByteBuffer && length - headerBytes > leastBytes;
    }

    /**
     * As {@link #straight}, for a descriptor that takes arrays.
     *
     * @param leastBytes bytes above which a separate call is worth its cost
     * @return whether they are plain and in an array, and more than that
     */
    public boolean inArray(int leastBytes) {
        return kernel == null && !(memory instanceof ByteBuffer) && length - headerBytes > leastBytes;
    }
}
