package ferro.spi;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * An area of memory of each rank of a group, mapped by all ranks that could reach it. Each rank offers its own, all offers are
 * exchanged, each rank tries those of the others; then the name can go. Not thread-safe until that is done.
 */
public interface SharedMemory extends AutoCloseable {
    /** Length of an offer at most, so that offers are exchanged by one all-gather. */
    int OFFER_BYTES_MOST = 1024;

    /**
     * Returns what another process needs to find this rank's area and to see that it is the right one.
     *
     * @return at most {@link #OFFER_BYTES_MOST} bytes; no secret to those who may read this process's memory
     */
    byte[] offer();

    /**
     * Tries to map the area of another rank.
     *
     * @param rank  of the group
     * @param offer what that rank offered
     * @return empty if it is mapped now; else why not, for example that it is on another host
     */
    Optional<String> reach(int rank, byte[] offer);

    /** Says that every rank that could reach this area has done so: nobody will look for its name any more. */
    void settle();

    /**
     * Returns an area, zero when it was made.
     *
     * @param rank this rank, or one that was reached
     * @return all of it, direct, native order; the same object at each call
     * @throws IllegalStateException if that rank was not reached, or after {@link #close}
     */
    ByteBuffer area(int rank);

    /**
     * Returns which host this rank counts as being on; ranks of equal names may reach each other.
     *
     * @return name, for people too
     */
    String host();

    /** Unmaps everything at once and leaves nothing behind; nobody may touch an area any more. Idempotent. */
    @Override
    void close();
}
