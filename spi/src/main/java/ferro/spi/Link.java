package ferro.spi;

import ferro.HostTensor;
import ferro.ReduceOp;

/**
 * A lane, which is one ordered connection to one peer. The methods of a link only post sends and receives, and never
 * wait. Completions are reported as counts, so that no memory is allocated. The thread that makes progress on the
 * transport calls the methods of a link.
 *
 * <p>The first send of a call on a link begins with the header (sequence and fingerprint), even if this send has no
 * elements. The first receive of a call expects the header, and is finished only after the header has arrived. Later
 * posts of the same call (equal sequence) contain only elements, and a later post without elements is finished
 * immediately. The two sides of a link post the same number of elements in the same order. Each side may split the
 * elements into posts of any size.
 *
 * <p>A posted send refers to the caller's memory until {@link #sent()} counts this send. A link buffers no more than
 * the window of its medium. Therefore a slow peer slows down the sender, and the use of memory stays limited.
 */
public interface Link {
    /**
     * Posts a send of elements.
     *
     * @param call  call that the data belongs to
     * @param data  memory to send from
     * @param from  first element
     * @param count number of elements; 0 sends only the header
     */
    void send(CallHeader call, HostTensor data, long from, long count);

    /**
     * Posts a receive of the next elements.
     *
     * @param call  expected call; another header fails the group with MISMATCH
     * @param into  memory to receive into
     * @param from  first element
     * @param count number of elements
     */
    void receive(CallHeader call, HostTensor into, long from, long count);

    /**
     * Posts a receive that combines the next elements with elements in memory. The link reads the next elements
     * directly from the buffer of the medium or from the memory of the peer. The count is a multiple of {@link
     * ReduceOp#recordElements}, and the link combines only whole records.
     *
     * @param call  expected call
     * @param into  memory to receive into
     * @param from  first element
     * @param count number of elements
     * @param op    operation that combines two elements. AVG adds two elements and divides the sum by the world size:
     *     the engine passes AVG only for the last addition, and SUM for all earlier additions
     */
    void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op);

    /** {@return the number of finished sends, whose memory the caller may reuse} */
    long sent();

    /**
     * {@return the number of bytes moved in both directions since the link was created, including the bytes of
     * unfinished posts} Messages and the flight recorder use this number.
     */
    long bytesMoved();

    /**
     * Drops the posts of this link, because the two ranks continue over another link. No data of the dropped posts has
     * moved. The connection stays open and costs nothing.
     */
    default void retire() {
        // a link whose idle posts cost nothing may keep these posts
    }

    /** {@return the number of finished receives, whose data has arrived} */
    long received();
}
