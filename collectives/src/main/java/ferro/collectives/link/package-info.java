/**
 * The parts of a link over any medium that moves bytes. One part keeps posted ranges of elements in order as ranges of
 * bytes. Another part copies between tensors and the medium's memory without an allocation.
 *
 * <p>{@link ferro.collectives.StagedLink} is a complete link that is made of the parts in this package, and copies
 * every element once more. TCP and shared memory avoid the additional copy. Start reading at
 * {@link ferro.collectives.link.PostRing}. A link moves elements, and a header before the first elements of each call
 * ({@link ferro.collectives.link.WireHeader}).
 *
 * <p>No class of this package depends on a medium, waits, or is thread-safe.
 */
package ferro.collectives.link;
