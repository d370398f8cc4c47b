package ferro.collectives.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Words by which ranks tell each other how far they are. What was written before a word was released is seen by whoever
 * acquires it; each word has a line of its own, so that its reader shares no line with what others write.
 */
final class Words {
    /** Two lines of 64 bytes: processors fetch them in pairs. */
    static final int LINE_BYTES = 128;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private Words() {}

    static long acquire(ByteBuffer area, int at) {
        return (long) LONGS.getAcquire(area, at);
    }

    static void release(ByteBuffer area, int at, long value) {
        LONGS.setRelease(area, at, value);
    }

    /** Writes a word that is seen by others before this thread reads anything more. */
    static void publish(ByteBuffer area, int at, long value) {
        LONGS.setVolatile(area, at, value);
    }

    /** Replaces a word; only one of several that try at once succeeds. */
    static boolean replace(ByteBuffer area, int at, long expected, long value) {
        return LONGS.compareAndSet(area, at, expected, value);
    }
}
