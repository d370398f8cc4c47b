package ferro.backend.nccl.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Idle blocks by size, for calls that need memory. Requests to the runtime are expensive, because cudaMalloc and
 * cudaFree wait for all work of the device.
 */
final class MemoryPool {
    /** cudaMalloc aligns to at least 256 bytes; smaller blocks do not need separate classes. */
    private static final long SMALLEST_BYTES = 512;
    /** Classes per doubling: rounding loses at most an eighth of a block. */
    private static final int CLASSES_PER_DOUBLING = 8;

    private final long mostIdleBytes;
    private final Map<Long, Deque<MemoryBlock>> idle = new TreeMap<>();
    private long idleBytes;
    private int idleCount;
    private boolean closed;

    /** Creates an empty pool. Idle blocks beyond the limit are freed, except the last one. */
    MemoryPool(long mostIdleBytes) {
        this.mostIdleBytes = mostIdleBytes;
    }

    /** Returns the size of the blocks that serve a request of this many bytes. */
    static long classOf(long bytes) {
        long step = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(1, bytes)) / CLASSES_PER_DOUBLING);
        return Math.multiplyExact((bytes + step - 1) / step, step);
    }

    /** Takes a block of exactly this class; null if there is none. */
    synchronized MemoryBlock take(long classBytes) {
        Deque<MemoryBlock> blocks = idle.get(classBytes);
        if (blocks == null || blocks.isEmpty()) {
            return null;
        }
        idleBytes -= classBytes;
        idleCount--;
        return blocks.pop();
    }

    /** Takes a block of exactly this class. While there is none, {@code supplies} creates one and adds it. */
    MemoryBlock take(long classBytes, Runnable supplies) {
        MemoryBlock block = take(classBytes);
        while (block == null) {
            supplies.run();
            block = take(classBytes);
        }
        return block;
    }

    /**
     * Adds a new block that a caller is about to take, so that it is not lost if the caller stops waiting.
     *
     * @return false if the pool is closed; then the caller must free the block
     */
    synchronized boolean supply(MemoryBlock block) {
        if (closed) {
            return false;
        }
        idle.computeIfAbsent(block.bytes(), bytes -> new ArrayDeque<>()).push(block);
        idleBytes += block.bytes();
        idleCount++;
        return true;
    }

    /**
     * Takes a block back.
     *
     * @return blocks that the caller must free because they are no longer kept; this block if the pool is closed
     */
    synchronized List<MemoryBlock> giveBack(MemoryBlock block) {
        if (!supply(block)) {
            return List.of(block);
        }
        return idleBytes > mostIdleBytes ? trim() : List.of();
    }

    /** Removes the oldest blocks, small classes first, until the limit holds. */
    private List<MemoryBlock> trim() {
        List<MemoryBlock> freed = new ArrayList<>();
        for (Deque<MemoryBlock> blocks : idle.values()) {
            while (idleBytes > mostIdleBytes && idleCount > 1 && !blocks.isEmpty()) {
                MemoryBlock oldest = blocks.removeLast();
                idleBytes -= oldest.bytes();
                idleCount--;
                freed.add(oldest);
            }
        }
        return freed;
    }

    /** Removes all idle blocks, for the caller to free. */
    synchronized List<MemoryBlock> drain() {
        List<MemoryBlock> freed = new ArrayList<>();
        idle.values().forEach(freed::addAll);
        idle.clear();
        idleBytes = 0;
        idleCount = 0;
        return freed;
    }

    /** Closes the pool. Removes all idle blocks, and keeps no block that is given back later. */
    synchronized List<MemoryBlock> close() {
        closed = true;
        return drain();
    }

    synchronized long idleBytes() {
        return idleBytes;
    }
}
