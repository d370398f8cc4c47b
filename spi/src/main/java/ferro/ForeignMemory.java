package ferro;

import java.nio.ByteBuffer;

/**
 * Memory outside the Java heap that its owner may free, such as a {@code MemorySegment} of module
 * {@code ferro.segments}. {@link HostTensor#of(DataType, ForeignMemory)} views foreign memory without a copy.
 *
 * <p>The memory may have more than 2 GiB. ferro accesses the memory only through the buffers that {@link #buffer}
 * returns, and never by its address. A buffer must refuse every access after the memory was freed. ferro therefore
 * cannot read or write freed memory, and cannot crash the JVM by an access to freed memory.
 *
 * <p>Implementations must be thread-safe.
 */
public interface ForeignMemory {
    /** {@return the address of the first byte} ferro compares addresses to find overlaps. */
    long address();

    /** {@return the size of the memory in bytes, the same in every call} */
    long byteCount();

    /** {@return whether the memory is read-only; a call refuses read-only memory as its output} */
    boolean isReadOnly();

    /** {@return whether the owner has not yet freed the memory; each call checks this state before any data moves} */
    boolean isAlive();

    /**
     * Returns the size of the buffers through which ferro accesses the memory. If the memory is larger than one buffer,
     * each buffer begins in the middle of the previous buffer. Any run of at most half a buffer therefore lies in one
     * buffer.
     *
     * @return size in bytes: a power of two from 4 MiB to 1 GiB; by default 1 GiB
     */
    default int bufferBytes() {
        return 1 << 30;
    }

    /**
     * Creates a buffer of a part of the memory. {@link HostTensor#of(DataType, ForeignMemory)} calls this method once
     * for each part.
     *
     * @param from  index of the first byte in the memory
     * @param bytes number of bytes
     * @return direct buffer from position 0 to limit {@code bytes}, in native byte order
     */
    ByteBuffer buffer(long from, int bytes);
}
