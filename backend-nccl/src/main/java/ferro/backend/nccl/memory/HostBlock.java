package ferro.backend.nccl.memory;

import java.nio.ByteBuffer;

/**
 * A block of host memory for copies.
 *
 * @param memory  whole block
 * @param address of pinned memory, needed to free it; 0 for plain memory, which the JVM frees
 */
record HostBlock(ByteBuffer memory, long address) {
    boolean pinned() {
        return address != 0;
    }

    long bytes() {
        return memory.capacity();
    }
}
