package ferro.spi;

import ferro.HostTensor;
import ferro.ReduceOp;

/**
 * One ordered lane to one peer; posts only, nothing here waits; completions are counts, so that nothing is allocated.
 * Called by whoever drives the transport.
 *
 * <p>Header: the first send of a call on a link puts the header (sequence and fingerprint) in front, even where it has no
 * elements; the first receive of a call expects it, and is finished only when it has come. Later posts of the same call
 * (equal sequence) are bare elements; one of them without elements is finished at once. Both sides post the same
 * number of elements in the same order, cut as they like.
 *
 * <p>A posted send refers to the caller's memory until {@link #sent()} has passed it; nothing is buffered beyond the
 * medium's own window, so a slow peer slows the sender and memory stays bounded.
 */
public interface Link {
    /**
     * Posts elements.
     *
     * @param call  whose data it is
     * @param data  memory
     * @param from  first element
     * @param count elements; 0 sends no more than the header
     */
    void send(CallHeader call, HostTensor data, long from, long count);

    /**
     * Posts a place for the next elements.
     *
     * @param call  what is expected; another header fails the group with MISMATCH
     * @param into  memory
     * @param from  first element
     * @param count elements
     */
    void receive(CallHeader call, HostTensor into, long from, long count);

    /**
     * Posts a place to combine the next elements into, straight from the medium's buffer or the peer's memory.
     *
     * @param call  what is expected
     * @param into  memory
     * @param from  first element
     * @param count elements
     * @param op    how
     */
    void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op);

    /**
     * Returns how many sends are finished.
     *
     * @return posts whose memory is free again
     */
    long sent();

    /**
     * Returns the bytes moved both ways, unfinished posts included; for messages and the recorder.
     *
     * @return bytes since the link was made
     */
    long bytesMoved();

    /**
     * Drops what is posted, of which nothing has moved and nothing will: both sides go on over another link. The connection
     * stays as it is, and costs nothing.
     */
    default void retire() {
        // where an idle post costs nothing, it may stay
    }

    /**
     * Returns how many receives are finished.
     *
     * @return posts whose data is there
     */
    long received();
}
