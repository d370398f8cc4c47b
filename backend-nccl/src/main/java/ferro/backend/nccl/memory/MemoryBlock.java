package ferro.backend.nccl.memory;

import java.nio.ByteBuffer;

/**
 * A block of device memory, or of host memory for copies.
 *
 * @param address address that the runtime has returned; 0 for host memory that is not pinned, which the JVM frees
 * @param host    buffer over all bytes of host memory; null for memory of a device
 */
record MemoryBlock(long address, long bytes, ByteBuffer host) {}
