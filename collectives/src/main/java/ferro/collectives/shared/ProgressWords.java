package ferro.collectives.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Words in which ranks publish their progress. What was written before a word was released is visible to the thread that
 * acquires it. Each word has a line of its own, so that its reader shares no line with what others write.
 */
final class ProgressWords {
    /** Two lines of 64 bytes: processors fetch them in pairs. */
    static final int LINE_BYTES = 128;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private ProgressWords() {}

    static long acquire(ByteBuffer area, int at) {
        return (long) LONGS.getAcquire(area, at);
    }

    static void release(ByteBuffer area, int at, long value) {
        LONGS.setRelease(area, at, value);
    }

    /** Sets a word to 0 so that others see it before what this thread writes next: what the word stood for is gone. */
    static void withdraw(ByteBuffer area, int at) {
        announce(area, at, 0);
    }

    /** Writes a word so that others see it before anything that this thread writes next. */
    static void announce(ByteBuffer area, int at, long value) {
        LONGS.setOpaque(area, at, value);
        VarHandle.storeStoreFence();
    }

    /** Reads a word after everything that this thread has read before. */
    static long again(ByteBuffer area, int at) {
        VarHandle.loadLoadFence();
        return (long) LONGS.getAcquire(area, at);
    }

    /** Writes a word so that others see it before this thread reads anything more. */
    static void publish(ByteBuffer area, int at, long value) {
        LONGS.setVolatile(area, at, value);
    }

    /** Replaces a word; of several threads that try at once only one succeeds. */
    static boolean replace(ByteBuffer area, int at, long expected, long value) {
        return LONGS.compareAndSet(area, at, expected, value);
    }
}
