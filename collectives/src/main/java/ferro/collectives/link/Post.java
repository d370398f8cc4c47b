package ferro.collectives.link;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import java.util.Objects;

/**
 * One posted range of elements as a range of bytes: first the header, if this is the first post of its call on the
 * link, then the elements. {@link PostRing} reuses finished posts, so the fields of a post change.
 */
public final class Post {
    private CallHeader call;
    private int headerBytes;
    private DataType type;
    private int elementBytes;
    /** Binary logarithm of {@link #elementBytes}, because a shift takes less time than a division. */
    private int shift;

    private HostTensor data;
    /** First element in {@link #data}. */
    private long first;

    private long length;
    private Kernel kernel;

    /** Makes a post, for {@link PostRing}. */
    Post() {}

    void fill(CallHeader header, boolean hasHeader, HostTensor tensor, long from, long count, Kernel how) {
        Objects.checkFromIndexSize(from, count, tensor.elementCount());
        call = header;
        headerBytes = hasHeader ? WireHeader.BYTES : 0;
        type = tensor.dataType();
        elementBytes = type.byteSize();
        shift = Integer.numberOfTrailingZeros(elementBytes);
        data = tensor;
        first = from;
        length = headerBytes + count * elementBytes;
        kernel = how;
    }

    /** Drops the references to the caller's memory. */
    void clear() {
        call = null;
        data = null;
        kernel = null;
    }

    /** Returns the call that the data belongs to. */
    public CallHeader call() {
        return call;
    }

    /**
     * Returns the bytes before the elements: {@link WireHeader#BYTES}, or 0 unless the post is the first post of its
     * call on the link.
     */
    public int headerBytes() {
        return headerBytes;
    }

    /** Returns the number of bytes that move, including the header. */
    public long length() {
        return length;
    }

    /** Returns the type of the elements. */
    public DataType type() {
        return type;
    }

    /** Returns the size of an element. */
    public int elementBytes() {
        return elementBytes;
    }

    /**
     * Returns the memory that contains a byte of the post: an array of the type, or a direct buffer in native order.
     * The memory contains the next 2 MiB of the post, or the rest of the post if the rest is shorter. The position
     * counts the header.
     */
    public Object memory(long position) {
        return TensorMemory.memoryAt(data, element(position));
    }

    /** Returns the kernel with which a receive combines; null if elements are only copied. */
    public Kernel kernel() {
        return kernel;
    }

    /**
     * Returns the position in {@link #memory(long)} of the element that contains a byte of the post: an index for an
     * array, bytes for a buffer.
     */
    public long place(long position) {
        return TensorMemory.offsetAt(data, element(position));
    }

    /**
     * Returns the position in {@link #memory(long)} of a byte of the post: bytes from the first element of an array, or
     * from index 0 of a buffer.
     */
    public long bytePlace(long position) {
        long place = place(position) << (data.isDirect() ? 0 : shift);
        return place + (position - headerBytes & elementBytes - 1);
    }

    /** Returns the number of complete elements in a number of bytes. */
    int elements(int bytes) {
        return bytes >> shift;
    }

    /** Returns the element of {@link #data} that contains a byte of the post. */
    private long element(long position) {
        return first + (position - headerBytes >> shift);
    }

    /**
     * Returns whether the elements can move between a file descriptor and their memory without a copy. The elements
     * must not be combined, must be in a direct buffer that is not foreign memory, and must have more than
     * {@code leastBytes} bytes. For fewer bytes, a separate system call is not worth its cost.
     */
    public boolean straight(int leastBytes) {
        return length - headerBytes > leastBytes && kernel == null && data.isDirect() && !isForeign();
    }

    /**
     * Does the same as {@link #straight} for elements in arrays or foreign memory. The system call for the file
     * descriptor must accept arrays and foreign memory.
     */
    public boolean isLent(int leastBytes) {
        return length - headerBytes > leastBytes && kernel == null && (isForeign() || !data.isDirect());
    }

    /**
     * Returns whether the memory may be freed at any time ({@link ferro.ForeignMemory}), so that it must not be
     * accessed by its address.
     */
    public boolean isForeign() {
        return TensorMemory.isForeign(data);
    }
}
