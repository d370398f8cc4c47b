/**
 * What a link needs over any medium that moves bytes: posted runs of elements as runs of bytes, in order, and copies between
 * tensors and the medium's memory that allocate nothing.
 *
 * <p>An author of a new medium starts at {@link ferro.collectives.link.StagedLink}, which is a complete link over anything
 * that moves bytes in order; module examples has such a medium, {@code ferro.examples.files}. An author who wants to avoid
 * the copy that it makes, as TCP and shared memory do, starts at {@link ferro.collectives.link.PostRing}. The bytes of a
 * link are the elements, and in front of the first elements of each call its header,
 * {@link ferro.collectives.link.WireHeader}; nothing else.
 *
 * <p>Nothing here knows a medium, waits, or is thread-safe.
 */
package ferro.collectives.link;
