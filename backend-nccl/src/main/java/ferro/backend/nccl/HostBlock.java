package ferro.backend.nccl;

import java.nio.ByteBuffer;

/**
 * A piece of host memory for copies.
 *
 * @param memory  all of it
 * @param address of pinned memory, to free it by; 0 for plain memory, which the JVM frees
 */
record HostBlock(ByteBuffer memory, long address) {
    boolean pinned() {
        return address != 0;
    }

    long bytes() {
        return memory.capacity();
    }
}
