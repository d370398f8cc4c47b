package ferro.backend.nccl.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/** A few 8-byte words of native memory, initially zero, for results that a library writes after a call has returned. */
public final class NativeWords implements AutoCloseable {
    private final Memory words;

    /** Allocates at least one word. */
    public NativeWords(int count) {
        words = new Memory((long) Long.BYTES * count);
        words.clear();
    }

    /** Returns the address of a word, by index from 0; valid until {@link #close}. */
    public long address(int index) {
        return Pointer.nativeValue(words) + (long) Long.BYTES * index;
    }

    /** Reads a word, by index from 0. */
    public long at(int index) {
        return words.getLong((long) Long.BYTES * index);
    }

    /** Frees the words; idempotent. */
    @Override
    public void close() {
        words.close();
    }
}
