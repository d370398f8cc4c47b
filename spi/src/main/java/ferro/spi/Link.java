package ferro.spi;

import ferro.HostTensor;
import ferro.ReduceOp;

/**
 * One ordered lane to one peer. Its methods only post and never wait. Completions are counts, so that nothing is
 * allocated. Called by the thread that makes progress on the transport.
 *
 * <p>Header: the first send of a call on a link puts the header (sequence and fingerprint) in front, even if it has no
 * elements. The first receive of a call expects the header, and is finished only when the header has arrived. Later posts
 * of the same call (equal sequence) are elements alone; a later post without elements is finished at once. Both sides
 * post the same number of elements in the same order; each side may split them as it likes.
 *
 * <p>A posted send refers to the caller's memory until {@link #sent()} has passed it; nothing is buffered beyond the
 * medium's own window, so a slow peer slows the sender and memory stays bounded.
 */
public interface Link {
    /**
     * Posts elements.
     *
     * @param call  call that the data belongs to
     * @param data  memory
     * @param from  first element
     * @param count elements; 0 sends the header only
     */
    void send(CallHeader call, HostTensor data, long from, long count);

    /**
     * Posts a receive of the next elements.
     *
     * @param call  expected call; another header fails the group with MISMATCH
     * @param into  memory
     * @param from  first element
     * @param count elements
     */
    void receive(CallHeader call, HostTensor into, long from, long count);

    /**
     * Posts a receive that combines the next elements into memory, directly from the medium's buffer or the peer's
     * memory.
     *
     * @param call  expected call
     * @param into  memory
     * @param from  first element
     * @param count elements
     * @param op    operation that combines two elements; AVG adds them and divides by the world size, since the engine passes
     *              it only where these are the last two terms, and SUM before
     */
    void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op);

    /**
     * Returns how many sends are finished.
     *
     * @return number of sends whose memory is free again
     */
    long sent();

    /**
     * Returns the bytes moved in both directions, including those of unfinished posts; for messages and the recorder.
     *
     * @return bytes since the link was made
     */
    long bytesMoved();

    /**
     * Drops the posts of this link. None of their data has moved, and none will, because both sides go on over another
     * link. The connection stays open and costs nothing.
     */
    default void retire() {
        // if an idle post costs nothing, it may stay
    }

    /**
     * Returns how many receives are finished.
     *
     * @return number of receives whose data has arrived
     */
    long received();
}
