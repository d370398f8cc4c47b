package ferro.backend.nccl;

import ferro.spi.RankContext;
import java.util.Arrays;

/**
 * What the ranks of one NCCL communicator have in common: rank 0 makes it, the others get its bytes by another way.
 *
 * <p>Immutable, so any thread may use it. Whoever has it can join the communicator: it is never printed, and must not be
 * logged. Good for one communicator; the process that made it must live while the others join, since it listens for them.
 */
public final class NcclUniqueId {
    /** Size, fixed by nccl.h (NCCL_UNIQUE_ID_BYTES). */
    public static final int BYTES = 128;

    private final byte[] bytes;

    private NcclUniqueId(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Makes the id of a new communicator; one rank does so.
     *
     * @param context settings that name the libraries
     * @return id, equal to no other
     * @throws ferro.FerroException RENDEZVOUS if a library is missing, NATIVE if NCCL finds no network
     */
    public static NcclUniqueId generate(RankContext context) {
        return CommFactory.of(context).uniqueId();
    }

    /**
     * Returns the id before any was made.
     *
     * @return all bytes zero; joins nothing
     */
    public static NcclUniqueId zero() {
        return new NcclUniqueId(new byte[BYTES]);
    }

    /**
     * Takes an id that another rank made.
     *
     * @param bytes what {@link #toBytes} gave there; copied
     * @return id
     * @throws IllegalArgumentException if there are not exactly {@value #BYTES} bytes
     */
    public static NcclUniqueId fromBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a unique id of NCCL has " + BYTES + " bytes, found " + bytes.length
                    + ": hand over all of toBytes()");
        }
        return new NcclUniqueId(bytes.clone());
    }

    /**
     * Returns the bytes, for a store or a message to the other ranks.
     *
     * @return fresh copy of {@value #BYTES} bytes
     */
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

    /** Returns the size only: the bytes let whoever reads them join. */
    @Override
    public String toString() {
        return "NcclUniqueId[" + BYTES + " bytes]";
    }
}
