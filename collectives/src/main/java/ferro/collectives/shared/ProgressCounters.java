package ferro.collectives.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Words in which ranks publish their progress. Data that was written before the release of a word is visible to a
 * thread that acquires the word. Each word has a separate cache line, so that readers of a word are not disturbed by
 * writes of other data.
 */
final class ProgressCounters {
    /** Size of two cache lines of 64 bytes, because processors fetch lines in pairs. */
    static final int LINE_BYTES = 128;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private ProgressCounters() {}

    static long acquire(ByteBuffer area, int at) {
        return (long) LONGS.getAcquire(area, at);
    }

    static void release(ByteBuffer area, int at, long value) {
        LONGS.setRelease(area, at, value);
    }

    /** Sets a word to 0, which makes its last value invalid. Other threads see 0 before this thread's next writes. */
    static void withdraw(ByteBuffer area, int at) {
        announce(area, at, 0);
    }

    /** Writes a word. Other threads see the word before anything that this thread writes later. */
    static void announce(ByteBuffer area, int at, long value) {
        LONGS.setOpaque(area, at, value);
        VarHandle.storeStoreFence();
    }

    /** Reads a word. The read happens after all earlier reads of this thread. */
    static long again(ByteBuffer area, int at) {
        VarHandle.loadLoadFence();
        return (long) LONGS.getAcquire(area, at);
    }

    /** Writes a word. Other threads see the word before this thread reads anything else. */
    static void publish(ByteBuffer area, int at, long value) {
        LONGS.setVolatile(area, at, value);
    }

    /** Replaces a word that has an expected value. If several threads try at once, only one thread succeeds. */
    static boolean replace(ByteBuffer area, int at, long expected, long value) {
        return LONGS.compareAndSet(area, at, expected, value);
    }
}
