package ferro;

import java.nio.ByteBuffer;

/**
 * Memory outside the Java heap whose owner may free it, such as a {@code MemorySegment} of module {@code
 * ferro.segments}. {@link HostTensor#of(DataType, ForeignMemory)} views such memory without a copy.
 *
 * <p>The memory may have more than 2 GiB. ferro accesses the memory only through the buffers that {@link #buffer}
 * returns, and never by its address. A buffer must refuse every access after the memory was freed. ferro therefore
 * cannot read or write freed memory, and the JVM cannot crash.
 *
 * <p>Implementations must be thread-safe.
 */
public interface ForeignMemory {
    /** {@return the address of the first byte} ferro compares addresses to find overlaps. */
    long address();

    /** {@return the size of the memory in bytes, the same in every call} */
    long byteCount();

    /** {@return whether the memory can only be read. A call refuses such memory as its output} */
    boolean isReadOnly();

    /** {@return whether the owner has not freed the memory. Each call checks this before any data moves} */
    boolean isAlive();

    /**
     * Returns the size of the buffers through which ferro accesses the memory. If the memory is larger, each buffer
     * begins in the middle of the buffer before it. A run of half of this size is then always in one buffer.
     *
     * @return bytes, a power of two of at least 4 MiB and at most 1 GiB; by default 1 GiB
     */
    default int bufferBytes() {
        return 1 << 30;
    }

    /**
     * Creates a buffer of a part of the memory. {@link HostTensor#of(DataType, ForeignMemory)} calls this method once
     * for each part.
     *
     * @param from  first byte
     * @param bytes number of bytes
     * @return direct buffer from position 0 to limit {@code bytes}, in native byte order
     */
    ByteBuffer buffer(long from, int bytes);
}
