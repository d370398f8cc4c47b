package ferro.backend.nccl.ffi;

import com.sun.jna.Structure;

/**
 * {@code ncclUniqueId} of nccl.h: 128 bytes that are passed by value. {@link #of} creates it. The id is never printed,
 * because a process that has read the bytes could join.
 */
@Structure.FieldOrder("internal")
public class NcclIdStruct extends Structure {
    /** {@code NCCL_UNIQUE_ID_BYTES}. */
    public static final int BYTES = 128;

    /** The bytes; public, as JNA requires. */
    public byte[] internal = new byte[BYTES];

    /** Creates an id of zeros. */
    public NcclIdStruct() {
        setAlignType(ALIGN_NONE);
    }

    /** The struct as a parameter that is passed by value. */
    public static final class ByValue extends NcclIdStruct implements Structure.ByValue {}

    /**
     * Copies an id.
     *
     * @param bytes exactly {@link #BYTES}
     * @return struct to pass to one native call
     * @throws IllegalArgumentException if the length is wrong
     */
    public static ByValue of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("an NCCL id has " + BYTES + " bytes, found " + bytes.length);
        }
        ByValue id = new ByValue();
        System.arraycopy(bytes, 0, id.internal, 0, BYTES);
        return id;
    }

    /** Returns the size only, not the bytes. */
    @Override
    public String toString() {
        return "NcclIdStruct[" + BYTES + " bytes]";
    }

    /** Returns the size only, not the bytes. */
    @Override
    public String toString(boolean debug) {
        return toString();
    }
}
