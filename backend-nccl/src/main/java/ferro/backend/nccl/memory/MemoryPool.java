package ferro.backend.nccl.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A pool of idle memory blocks, by size. Blocks are reused, because cudaMalloc and cudaFree are expensive: they wait
 * for all work of the device.
 */
final class MemoryPool {
    /** Smallest block size. Smaller sizes would save little, since cudaMalloc aligns to at least 256 bytes. */
    private static final long SMALLEST_BYTES = 512;
    /** Block sizes per doubling. Rounding up wastes at most an eighth of a block. */
    private static final int CLASSES_PER_DOUBLING = 8;

    private final long mostIdleBytes;
    private final Map<Long, Deque<MemoryBlock>> idle = new TreeMap<>();
    private long idleBytes;
    private int idleCount;
    private boolean closed;

    /**
     * Creates an empty pool. When the idle blocks exceed the limit, blocks are freed, but never the only idle block.
     */
    MemoryPool(long mostIdleBytes) {
        this.mostIdleBytes = mostIdleBytes;
    }

    /** Returns the size of the blocks that serve a request of this many bytes. */
    static long classOf(long bytes) {
        long step = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(1, bytes)) / CLASSES_PER_DOUBLING);
        return Math.multiplyExact((bytes + step - 1) / step, step);
    }

    /** Removes and returns an idle block of exactly this size; null if there is none. */
    synchronized MemoryBlock take(long classBytes) {
        Deque<MemoryBlock> blocks = idle.get(classBytes);
        if (blocks == null || blocks.isEmpty()) {
            return null;
        }
        idleBytes -= classBytes;
        idleCount--;
        return blocks.pop();
    }

    /**
     * Removes and returns an idle block of exactly this size. While there is no such block, {@code supplies} creates
     * one and adds it.
     */
    MemoryBlock take(long classBytes, Runnable supplies) {
        MemoryBlock block = take(classBytes);
        while (block == null) {
            supplies.run();
            block = take(classBytes);
        }
        return block;
    }

    /**
     * Adds a new block that a caller waits for. If the caller stops waiting, the block stays in the pool.
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
     * @return blocks removed from the pool, which the caller must free; the given block if the pool is closed
     */
    synchronized List<MemoryBlock> giveBack(MemoryBlock block) {
        if (!supply(block)) {
            return List.of(block);
        }
        return idleBytes > mostIdleBytes ? trim() : List.of();
    }

    /** Removes blocks until the limit holds: small sizes first, and the oldest of a size first. */
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

    /** Removes and returns all idle blocks, which the caller must free. */
    synchronized List<MemoryBlock> drain() {
        List<MemoryBlock> freed = new ArrayList<>();
        idle.values().forEach(freed::addAll);
        idle.clear();
        idleBytes = 0;
        idleCount = 0;
        return freed;
    }

    /** Closes the pool. Removes and returns all idle blocks. Blocks that are given back later are not kept. */
    synchronized List<MemoryBlock> close() {
        closed = true;
        return drain();
    }

    synchronized long idleBytes() {
        return idleBytes;
    }
}
