package ferro.backend.nccl.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/**
 * Native memory that consists of words of 8 bytes, initially zero. A library may read it, and may write to it even
 * after a call has returned.
 */
public final class NativeLongs implements AutoCloseable {
    /** sizeof ncclConfig_t in 2.18, LP64. */
    private static final int CONFIG_SIZE = 48;

    private static final int CONFIG_VERSION = 21_800;
    /** {@code NCCL_CONFIG_INITIALIZER}. */
    private static final int CONFIG_MAGIC = 0xcafebeef;
    /** {@code NCCL_CONFIG_UNDEF_INT}. */
    private static final int UNDEFINED = Integer.MIN_VALUE;

    private static final int MAGIC_AT = 8;
    private static final int VERSION_AT = 12;
    private static final int[] UNDEFINED_AT = {20, 24, 28, 40};

    private final Memory words;

    /** Allocates at least one word. */
    public NativeLongs(int count) {
        words = new Memory((long) Long.BYTES * count);
        words.clear();
    }

    /**
     * Creates {@code ncclConfig_t} of nccl.h in the layout of 2.18, with the size and version of that layout. The field
     * {@code blocking} is 0, so that calls return {@code ncclInProgress} instead of blocking. Newer releases of NCCL
     * use defaults for fields that this layout lacks, and older releases read only the fields that they know.
     */
    public static NativeLongs nonBlockingConfig() {
        NativeLongs config = new NativeLongs(CONFIG_SIZE / Long.BYTES);
        config.words.setLong(0, CONFIG_SIZE);
        config.words.setInt(MAGIC_AT, CONFIG_MAGIC);
        config.words.setInt(VERSION_AT, CONFIG_VERSION);
        for (int at : UNDEFINED_AT) {
            config.words.setInt(at, UNDEFINED);
        }
        return config;
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
