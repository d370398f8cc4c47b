package ferro.backend.nccl.comm;

import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LibraryLocations;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.spi.RankContext;
import java.util.Arrays;

/**
 * The id that the ranks of one NCCL communicator share. Rank 0 creates the id. The program passes the bytes of the id
 * to the other ranks, for example through a store.
 *
 * <p>Immutable, so any thread may use it. Any process that has the id can join the communicator. Therefore the id is
 * never printed, and must not be logged. An id is valid for one communicator. The process that created the id must stay
 * alive until the other ranks have joined, because it listens for their connections.
 */
public final class NcclUniqueId {
    /** Size, fixed by nccl.h (NCCL_UNIQUE_ID_BYTES). */
    public static final int BYTES = 128;

    private final byte[] bytes;

    private NcclUniqueId(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Creates the id of a new communicator. Only one rank may call this method.
     *
     * @param context settings that name the libraries
     * @return id, different from all others
     * @throws ferro.FerroException NATIVE if a library is missing or NCCL finds no network
     */
    public static NcclUniqueId generate(RankContext context) {
        LibraryLoader.load(LibraryLocations.of(context));
        return made();
    }

    /** Creates the id of a new communicator with the loaded libraries. */
    static NcclUniqueId made() {
        byte[] bytes = new byte[BYTES];
        ResultChecker.nccl(Nccl.ncclGetUniqueId(bytes), "ncclGetUniqueId");
        return new NcclUniqueId(bytes);
    }

    /** {@return an empty id: all bytes are zero, and no rank can join with it} */
    public static NcclUniqueId zero() {
        return new NcclUniqueId(new byte[BYTES]);
    }

    /**
     * {@return the id that another rank has created}
     *
     * @param bytes result of {@link #toBytes} on that rank; copied
     * @throws IllegalArgumentException if there are not exactly {@value #BYTES} bytes
     */
    public static NcclUniqueId fromBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a unique id of NCCL has " + BYTES + " bytes, found " + bytes.length
                    + ": pass all bytes of toBytes()");
        }
        return new NcclUniqueId(bytes.clone());
    }

    /** {@return a fresh copy of the {@value #BYTES} bytes, for a store or a message to the other ranks} */
    public byte[] toBytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NcclUniqueId id && Arrays.equals(bytes, id.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns the size only, because a process that has read the bytes could join. */
    @Override
    public String toString() {
        return "NcclUniqueId[" + BYTES + " bytes]";
    }
}
