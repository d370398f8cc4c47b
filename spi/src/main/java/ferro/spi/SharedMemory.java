package ferro.spi;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The shared memory of a group, with one segment for each rank. Each rank offers its own segment, the ranks exchange
 * all offers, and each rank tries to map the segments of the other ranks. A segment is mapped by every rank that can
 * reach the segment. After the mapping, the file names of the segments can be removed. Until the file names are
 * removed, this object is not thread-safe.
 */
public interface SharedMemory extends AutoCloseable {
    /** Maximum length of an offer in bytes, so that one all-gather can exchange all offers. */
    int OFFER_BYTES_MOST = 1024;

    /**
     * Returns the offer of this rank. By the data of an offer, another process finds this rank's segment and checks
     * that it has found the right segment.
     *
     * @return at most {@link #OFFER_BYTES_MOST} bytes. The offer need not be kept secret from a process that may read
     *     this process's memory
     */
    byte[] offer();

    /**
     * Tries to map the segment of another rank.
     *
     * @param rank  rank of the group
     * @param offer offer of that rank
     * @return empty if the segment is now mapped; otherwise the reason, for example that the rank is on another host
     */
    Optional<String> reach(int rank, byte[] offer);

    /**
     * Removes the file name of this rank's segment. Before this call, every rank that can reach the segment must have
     * mapped the segment.
     */
    void settle();

    /**
     * Reserves memory in the part of this rank's segment that takes memory only when needed. The caller must reserve
     * memory before it writes data to that memory.
     *
     * @param from  first byte in the segment, which no earlier call has reserved
     * @param bytes number of bytes
     * @throws ferro.FerroException RESOURCE if too little memory is available; INTERRUPTED if the calling thread was
     *     interrupted
     */
    void reserve(long from, long bytes);

    /**
     * Returns the segment of a rank. The segment was filled with zeros when it was created.
     *
     * @param rank this rank, or a rank whose segment is mapped
     * @return all of the segment as a direct buffer in native order; each call returns the same object
     * @throws IllegalStateException if the segment of that rank is not mapped, or after {@link #close}
     */
    ByteBuffer area(int rank);

    /**
     * Lends this rank's segment to a tensor of the caller. This method may be called at most once, before
     * {@link #settle}. The bytes of the segment count against the memory that a rank may use. After this call,
     * {@link #close} no longer ends the count of the segment's bytes. The count ends when {@link #giveBack} is called,
     * or when the buffer is no longer reachable.
     *
     * @return all of the segment as a new direct buffer in native order. This object keeps no reference to the buffer.
     *     The memory stays mapped as long as the buffer, or a buffer that was derived from it, is reachable, even after
     *     {@link #close}
     * @throws ferro.FerroException RESOURCE if no address space is free
     */
    ByteBuffer lend();

    /**
     * Ends the count of this rank's segment against the memory that the rank may use. The segment stays mapped. Any
     * thread may call this method. Idempotent.
     */
    void giveBack();

    /**
     * {@return the name by which this rank identifies its host; messages contain this name too} Ranks whose hosts have
     * equal names may be able to share memory.
     */
    String host();

    /**
     * Unmaps all segments immediately, except for a lent buffer, and leaves no file behind. After this call, no thread
     * may access a buffer that {@link #area} has returned. Idempotent.
     */
    @Override
    void close();
}
