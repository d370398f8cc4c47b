package ferro.backend.nccl.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/**
 * {@code ncclConfig_t} of nccl.h in the layout of 2.18, with that layout's own size and version. Older and newer
 * libraries read the fields that they know and give the rest its default.
 */
public final class NcclConfigStruct implements AutoCloseable {
    /** sizeof in 2.18, LP64. */
    private static final int SIZE = 48;

    private static final int VERSION = 21_800;
    /** {@code NCCL_CONFIG_INITIALIZER}. */
    private static final int MAGIC = 0xcafebeef;
    /** {@code NCCL_CONFIG_UNDEF_INT}. */
    private static final int UNDEFINED = Integer.MIN_VALUE;

    private static final int MAGIC_AT = 8;
    private static final int VERSION_AT = 12;
    private static final int BLOCKING_AT = 16;
    private static final int[] UNDEFINED_AT = {20, 24, 28, 40};

    private final Memory memory = new Memory(SIZE);

    private NcclConfigStruct(int blocking) {
        memory.clear();
        memory.setLong(0, SIZE);
        memory.setInt(MAGIC_AT, MAGIC);
        memory.setInt(VERSION_AT, VERSION);
        memory.setInt(BLOCKING_AT, blocking);
        for (int at : UNDEFINED_AT) {
            memory.setInt(at, UNDEFINED);
        }
    }

    /** {@return a new configuration whose communicators answer {@code ncclInProgress} instead of waiting} */
    public static NcclConfigStruct nonBlocking() {
        return new NcclConfigStruct(0);
    }

    /** {@return its address, valid until {@link #close}} */
    public long address() {
        return Pointer.nativeValue(memory);
    }

    /** Frees it; idempotent. */
    @Override
    public void close() {
        memory.close();
    }
}
