package ferro.spi;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * One segment of shared memory per rank of a group, mapped by all ranks that can reach it. Each rank offers its own
 * segment, all offers are exchanged, and each rank tries to map the segments of the others. After that the name of the
 * segment can be removed. Not thread-safe until then.
 */
public interface SharedMemory extends AutoCloseable {
    /** Maximum length of an offer, so that offers are exchanged by one all-gather. */
    int OFFER_BYTES_MOST = 1024;

    /**
     * Returns the offer: what another process needs to find this rank's segment and to check that it is the right one.
     *
     * @return at most {@link #OFFER_BYTES_MOST} bytes; not secret from a process that may read this process's memory
     */
    byte[] offer();

    /**
     * Tries to map the segment of another rank.
     *
     * @param rank  of the group
     * @param offer offer of that rank
     * @return empty if it is mapped now, else the reason, for example that it is on another host
     */
    Optional<String> reach(int rank, byte[] offer);

    /** Tells that every rank that can reach this segment has done so. No rank will look for its name any more. */
    void settle();

    /**
     * Reserves memory of the part of this rank's segment that was left for later, before anything is written to it.
     *
     * @param from  first byte in the segment, reserved by no call before
     * @param bytes how many
     * @throws ferro.FerroException RESOURCE if there is not enough memory, INTERRUPTED if the caller was interrupted
     */
    void reserve(long from, long bytes);

    /**
     * Returns a segment, which was filled with zeros when it was made.
     *
     * @param rank this rank, or one that was reached
     * @return the whole segment, as a direct buffer in native order; the same object at each call
     * @throws IllegalStateException if that rank was not reached, or after {@link #close}
     */
    ByteBuffer area(int rank);

    /**
     * Lends this rank's segment to a tensor of the caller. Called at most once, before {@link #settle}. What the segment
     * counts against the memory that a rank may take is then given back by {@link #giveBack}, or when nobody can reach the
     * buffer any more, and not by {@link #close}.
     *
     * @return the whole segment once more, as a direct buffer in native order, of which this object keeps no reference: it
     *     stays mapped until nobody can reach it or a buffer made of it, also after {@link #close}
     * @throws ferro.FerroException RESOURCE if there is no address space
     */
    ByteBuffer lend();

    /** Gives back what this rank's segment counts; it stays mapped. Any thread may call; idempotent. */
    void giveBack();

    /**
     * Returns the name of the host that this rank counts as being on. Ranks with equal names may reach each other.
     *
     * @return name, also for messages
     */
    String host();

    /**
     * Unmaps all segments at once, but for a buffer that was lent, and leaves nothing behind. No thread may access a
     * segment by {@link #area} any more. Idempotent.
     */
    @Override
    void close();
}
