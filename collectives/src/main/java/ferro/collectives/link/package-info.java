/**
 * What a link of any medium needs that moves bytes: posted runs of elements as runs of bytes, in order, and copies between
 * tensors and the medium's memory that allocate nothing.
 *
 * <p>Start reading at {@link ferro.collectives.link.PostRing}. The bytes of a link: in front of the first elements of each
 * call its header, {@link ferro.collectives.link.WireHeader}; nothing else.
 *
 * <p>Nothing here knows a medium, waits, or is thread-safe.
 */
package ferro.collectives.link;
