package ferro.backend.nccl.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Idle blocks by size, so that a call which needs memory need not ask the runtime: cudaMalloc and cudaFree wait for the
 * whole device.
 */
final class MemoryPool<B> {
    /** cudaMalloc aligns to 256 bytes at least; smaller blocks are not worth a class of their own. */
    private static final long SMALLEST_BYTES = 512;
    /** Classes per doubling: at most an eighth of a block is lost to rounding. */
    private static final int CLASSES_PER_DOUBLING = 8;

    private final long mostIdleBytes;
    private final ToLongFunction<B> size;
    private final Map<Long, Deque<B>> idle = new TreeMap<>();
    private long idleBytes;
    private int idleCount;
    private boolean closed;

    /**
     * Makes an empty pool.
     *
     * @param mostIdleBytes limit above which idle blocks are freed, except the last one
     * @param size          bytes of a block, as {@link #classOf} gave them
     */
    MemoryPool(long mostIdleBytes, ToLongFunction<B> size) {
        this.mostIdleBytes = mostIdleBytes;
        this.size = size;
    }

    /** Returns the size of the blocks that serve a request of this many bytes. */
    static long classOf(long bytes) {
        long step = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(1, bytes)) / CLASSES_PER_DOUBLING);
        return Math.multiplyExact((bytes + step - 1) / step, step);
    }

    /** Takes a block of exactly this class; null if there is none. */
    synchronized B take(long classBytes) {
        Deque<B> blocks = idle.get(classBytes);
        if (blocks == null || blocks.isEmpty()) {
            return null;
        }
        idleBytes -= classBytes;
        idleCount--;
        return blocks.pop();
    }

    /**
     * Adds a new block that a caller is about to take, so that it is not lost if the caller gives up.
     *
     * @return false if the pool is closed; then the caller must free the block
     */
    synchronized boolean supply(B block) {
        if (closed) {
            return false;
        }
        idle.computeIfAbsent(size.applyAsLong(block), bytes -> new ArrayDeque<>())
                .push(block);
        idleBytes += size.applyAsLong(block);
        idleCount++;
        return true;
    }

    /**
     * Takes a block back.
     *
     * @return blocks that the caller must free because they are no longer kept; this one if the pool is closed
     */
    synchronized List<B> giveBack(B block) {
        if (!supply(block)) {
            return List.of(block);
        }
        return idleBytes > mostIdleBytes ? trim() : List.of();
    }

    /** Removes the oldest blocks, small classes first, until the limit holds. */
    private List<B> trim() {
        List<B> freed = new ArrayList<>();
        for (Deque<B> blocks : idle.values()) {
            while (idleBytes > mostIdleBytes && idleCount > 1 && !blocks.isEmpty()) {
                B oldest = blocks.removeLast();
                idleBytes -= size.applyAsLong(oldest);
                idleCount--;
                freed.add(oldest);
            }
        }
        return freed;
    }

    /** Removes all idle blocks, for the caller to free. */
    synchronized List<B> drain() {
        List<B> freed = new ArrayList<>();
        idle.values().forEach(freed::addAll);
        idle.clear();
        idleBytes = 0;
        idleCount = 0;
        return freed;
    }

    /** Closes the pool. Removes all idle blocks, and keeps no block that comes back later. */
    synchronized List<B> close() {
        closed = true;
        return drain();
    }

    synchronized long idleBytes() {
        return idleBytes;
    }
}
