package ferro.examples.files;

import ferro.collectives.StagedLink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One end of a ring of bytes in shared memory. One rank puts bytes in, another takes them out. A ring of zeros is empty. */
final class RingEnd implements StagedLink.Sink, StagedLink.Source {
    static final int BYTES = 32 << 10;

    /** Access to longs with release and acquire. A rank that reads a value sees all earlier writes of the writer. */
    static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** Offset of the number of all bytes put in; the number of all bytes taken out is in another cache line. */
    private static final int PUT_AT = 0;

    private static final int TAKEN_AT = 64;
    private static final int DATA_AT = 128;
    private static final int CAPACITY = BYTES - DATA_AT;

    private final ByteBuffer memory;
    /** Number of all bytes that this end has put in or taken out. */
    private long position;

    RingEnd(ByteBuffer memory) {
        this.memory = memory;
    }

    @Override
    public int free() {
        return CAPACITY - (int) (position - (long) WORD.getAcquire(memory, TAKEN_AT));
    }

    @Override
    public void put(ByteBuffer from, int bytes) {
        int at = (int) (position % CAPACITY);
        int first = Math.min(bytes, CAPACITY - at);
        memory.put(DATA_AT + at, from, 0, first).put(DATA_AT, from, first, bytes - first);
        position += bytes;
        WORD.setRelease(memory, PUT_AT, position);
    }

    @Override
    public int came() {
        return (int) ((long) WORD.getAcquire(memory, PUT_AT) - position);
    }

    @Override
    public void take(ByteBuffer into, int bytes) {
        int at = (int) (position % CAPACITY);
        int first = Math.min(bytes, CAPACITY - at);
        into.put(0, memory, DATA_AT + at, first).put(first, memory, DATA_AT, bytes - first);
        position += bytes;
        WORD.setRelease(memory, TAKEN_AT, position);
    }
}
